import { readFileSync } from 'node:fs';
import { LIMITS } from '../../src/modules/oauth/rate-limit/rate-limits.js';

describe('The runbook of throttling', () => {
  it('lists the setting of each limit in the metric and the audit log', () => {
    const [, section = ''] = readFileSync('docs/operate.md', 'utf8').split('### Throttling\n');
    const rows = section.split('\n## ')[0]?.matchAll(/^\| (`.*`) +\|.*`([\w-]+)` +\|$/gm) ?? [];
    const listed = [...rows].flatMap(([, labels = '', setting]) =>
      [...labels.matchAll(/`([\w-]+)`/g)].map(([, label]) => [label, setting]),
    );
    const expected = Object.entries(LIMITS).map(([name, [setting]]) => [name, setting]);
    expect(listed.toSorted()).toEqual(
      [...expected, ['otp-daily-total', 'OTP_DAILY_TOTAL']].toSorted(),
    );
  });
});
