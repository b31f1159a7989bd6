import type { AppConfig } from '../../platform/config/app-config.js';
import { demoGuide, type SeededDemo } from './demo.service.js';

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
      ['Try', exampleCommand(config)],
    );
  }
  const width = Math.max(...lines.map(([label]) => label.length));
  return `\n${lines.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`).join('\n')}\n\n`;
}

/** The example looks for the service where it is by default. */
function exampleCommand({ publicUrl }: AppConfig): string {
  const command = 'npm run example';
  return publicUrl === 'http://localhost:3000' ? command : `ISSUER=${publicUrl} ${command}`;
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
