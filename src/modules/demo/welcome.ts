import type { AppConfig } from '../../platform/config/app-config.js';
import { ana, DEMO_CODE, DEMO_PUBLIC_CLIENT_ID, type SeededDemo } from './demo.service.js';

/** The demo of this database. */
export interface ShownDemo {
  clientIds: readonly [publicId: string, confidentialId: string];
  /** Whether its users are test members. */
  isTestMode: boolean;
  seeded?: SeededDemo;
}

/** The text printed at start: the addresses and, on a demo database, the credentials. */
export function welcome({ publicUrl, sms }: AppConfig, demo?: ShownDemo): string {
  const lines: [string, string][] = [
    ['Service', publicUrl],
    ['Documentation', `${publicUrl}/docs`],
  ];
  if (demo) {
    const [publicId, confidentialId] = demo.clientIds;
    const issuer = publicUrl === 'http://localhost:3000' ? '' : `ISSUER=${publicUrl} `;
    const client = publicId === DEMO_PUBLIC_CLIENT_ID ? '' : `CLIENT_ID=${publicId} `;
    lines.push(
      ['Public app', publicId],
      ['Confidential app', confidentialId],
      [
        'Client secret',
        demo.seeded?.clientSecret ??
          'shown when the demo was seeded; "app secret rotate" creates another',
      ],
      ['Sign in with', ana.phone],
      ['Code', demo.isTestMode ? DEMO_CODE : deliveryOf(sms)],
      ['Try', `${issuer}${client}npm run example`],
    );
  }
  const width = Math.max(...lines.map(([label]) => label.length));
  return `\n${lines.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`).join('\n')}\n\n`;
}

function deliveryOf(sms: AppConfig['sms']): string {
  if (sms.sender === 'console') return 'printed here';
  return sms.sender === 'file' ? `written to ${sms.file}` : 'sent by SMS';
}
