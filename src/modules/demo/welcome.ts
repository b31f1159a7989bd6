import type { AppConfig } from '../../platform/config/app-config.js';
import {
  ana,
  DEMO_CONFIDENTIAL_CLIENT_ID,
  DEMO_PUBLIC_CLIENT_ID,
  type SeededDemo,
} from './demo.service.js';

/** The text printed at start: the addresses and, on a demo database, the credentials. */
export function welcome(
  { publicUrl, sms }: AppConfig,
  demo: { isDemo: boolean; seeded?: SeededDemo },
): string {
  const lines: [string, string][] = [
    ['Service', publicUrl],
    ['Documentation', `${publicUrl}/docs`],
  ];
  if (demo.isDemo) {
    const issuer = publicUrl === 'http://localhost:3000' ? '' : `ISSUER=${publicUrl} `;
    lines.push(
      ['Public app', DEMO_PUBLIC_CLIENT_ID],
      ['Confidential app', DEMO_CONFIDENTIAL_CLIENT_ID],
      [
        'Client secret',
        demo.seeded?.clientSecret ??
          'shown when the demo was seeded; "app secret rotate" creates another',
      ],
      ['Sign in with', ana.phone],
      ['One-time password', deliveryOf(sms)],
      ['Try', `${issuer}npm run example`],
    );
  }
  const width = Math.max(...lines.map(([label]) => label.length));
  return `\n${lines.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`).join('\n')}\n\n`;
}

function deliveryOf(sms: AppConfig['sms']): string {
  if (sms.sender === 'console') return 'printed here';
  return sms.sender === 'file' ? `written to ${sms.file}` : 'sent by SMS';
}
