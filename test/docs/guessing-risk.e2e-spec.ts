import { readFile } from 'node:fs/promises';
import { RESERVED_FOR_TRUSTED_DEVICES } from '../../src/modules/oauth/sign-in/otp-delivery.js';
import { DIGITS, LONG_DIGITS, MAX_ATTEMPTS } from '../../src/modules/oauth/sign-in/otp.service.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { RATE_LIMITS } from '../../src/platform/config/rate-limits.js';

const count = (value: number): string => value.toLocaleString('en-US');
const percent = (chance: number): string => `${(chance * 100).toPrecision(2)} %`;

describe('Security page', () => {
  it('O48 computes the risk of guesses at many phones from the limits', async () => {
    const page = await readFile('docs/security.md', 'utf8');
    const section = page.slice(page.indexOf('### Many phones at once'));
    const table = [...section.slice(0, section.indexOf('\nSo ')).matchAll(/^\| (.*)\|$/gm)]
      .slice(2)
      .map(([, row = '']) => row.split('|').map((cell) => cell.trim()));

    const messages = loadConfig({}).otp.dailyTotal * (1 - RESERVED_FOR_TRUSTED_DEVICES);
    const guesses = messages * MAX_ATTEMPTS.stranger;
    const [first] = RATE_LIMITS['wrong-codes-per-day'];
    const [codes, longCodes] = [10 ** DIGITS, 10 ** LONG_DIGITS];
    const chance = first / codes + (guesses - first) / longCodes;
    expect(table.map(([, value]) => value)).toEqual([
      count(messages),
      count(guesses),
      percent(guesses / codes),
      percent(first / codes),
      percent((guesses - first) / longCodes),
      `**${percent(chance)}**`,
    ]);
    const texts = table.map(([text]) => text).join('\n');
    for (const division of [
      `${count(guesses)} ÷ ${count(codes)}`,
      `the first ${count(first)} guesses`,
      `${count(first)} ÷ ${count(codes)}`,
      `${count(guesses - first)} ÷ ${count(longCodes)}`,
    ])
      expect(texts).toContain(division);
    expect(page).toContain(`[about ${percent(chance)} a day](#many-phones-at-once)`);
    expect(page).toContain(`costs you ${Math.ceil(first / MAX_ATTEMPTS.stranger)} messages`);
  });
});
