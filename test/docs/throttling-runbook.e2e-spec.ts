import { readFileSync } from 'node:fs';
import {
  callLimits,
  failureLimits,
  NETWORK_FACTORS,
  type RateLimit,
  refreshLimit,
} from '../../src/modules/oauth/rate-limit/rate-limits.js';
import { otpLimits } from '../../src/modules/oauth/sign-in/otp-limits.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { RATE_LIMITS } from '../../src/platform/config/rate-limits.js';

/** Each setting has another value, which shows by which setting a limit changes. */
const values = Object.keys(RATE_LIMITS).map((name, index) => [name, 1001 + index] as const);
const config = loadConfig({
  RATE_LIMITS: values.map((pair) => pair.join('=')).join(','),
  OTP_DAILY_TOTAL: '1000',
});
const settings = new Map<number, string>([
  ...values.map(([name, value]) => [value, name] as const),
  [1000, 'OTP_DAILY_TOTAL'],
]);

function settingOf({ name, maxAttempts }: RateLimit): string | undefined {
  const [network] = /network\d+$/.exec(name) ?? [];
  const factor =
    network === undefined ? 1 : NETWORK_FACTORS[network as keyof typeof NETWORK_FACTORS];
  return settings.get(maxAttempts / factor);
}

describe('The runbook of throttling', () => {
  it('lists the setting of each limit in the metric and the audit log', () => {
    const { messages, messagesFromNetworks, guesses, dailyTotal } = otpLimits(config);
    const limits = [
      ...callLimits(config),
      ...failureLimits(config),
      refreshLimit(config),
      ...messages,
      ...Object.values(messagesFromNetworks),
      guesses,
      dailyTotal,
    ];
    const [, section = ''] = readFileSync('docs/operate.md', 'utf8').split('### Throttling\n');
    const rows = section.split('\n## ')[0]?.matchAll(/^\| (`.*`) +\|.*`([\w-]+)` +\|$/gm) ?? [];
    const listed = [...rows].flatMap(([, labels = '', setting]) =>
      [...labels.matchAll(/`([\w-]+)`/g)].map(([, label]) => [label, setting]),
    );
    const expected = limits.map((limit) => [limit.name, settingOf(limit)]);
    expect(listed.toSorted()).toEqual(expected.toSorted());
  });
});
