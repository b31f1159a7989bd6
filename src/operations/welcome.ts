import type { AppConfig } from '../config/app-config.js';
import { demoGuide, type SeededDemo } from '../modules/demo/demo.service.js';

/** What is printed once the service listens: where it is and, on a demo database, what to try. */
export function welcome(config: AppConfig, demo: { isDemo: boolean; seeded?: SeededDemo }): string {
  const lines: [string, string][] = [
    ['Service', config.publicUrl],
    ['Documentation', `${config.publicUrl}/docs`],
  ];
  if (demo.isDemo) {
    lines.push(
      ['Public app', demoGuide.publicClientId],
      ['Confidential app', demoGuide.confidentialClientId],
      ['Its secret', demo.seeded?.clientSecret ?? 'told once, when the demo was seeded'],
      ['Sign in with', demoGuide.phone],
      ['One-time password', whereMessagesGo(config)],
      ['Try', 'npm run example'],
    );
  }
  const width = Math.max(...lines.map(([label]) => label.length));
  return `\n${lines.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`).join('\n')}\n\n`;
}

function whereMessagesGo({ sms }: AppConfig): string {
  switch (sms.sender) {
    case 'console':
      return 'appears here';
    case 'file':
      return `appears in ${sms.file}`;
    default:
      return 'arrives by SMS';
  }
}
