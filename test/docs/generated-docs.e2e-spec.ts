import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { TWILIO_ERRORS } from '../../src/modules/oauth/sign-in/sms/twilio.js';
import { LIMITS } from '../../src/modules/oauth/rate-limit/rate-limits.js';
import { cliPage } from '../../tools/cli-page.js';
import { configurationPage, envExample, messagesPage } from '../../tools/generated-docs.js';
import { phoneNumbersPage } from '../../tools/phone-numbers-page.js';
import { callingCodes, parsePhone } from '../../src/modules/users/phone-number.js';
import { envSchema } from '../../src/platform/config/env.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { commandTree } from '../support/command-line.js';
import { RATE_LIMITS } from '../../src/platform/config/rate-limits.js';

describe('Documentation of settings and commands', () => {
  it('lists every variable and every rate limit once', () => {
    const names = Object.keys(envSchema.shape);
    const inExample = [...envExample().matchAll(/^# ([A-Z][A-Z_]+)=/gm)];
    expect(inExample.map(([, name]) => name)).toEqual(names);
    const inPage = [...configurationPage().matchAll(/^\| `([A-Z_]+)` /gm)];
    expect(inPage.map(([, name]) => name)).toEqual(names);
    const limits = [...configurationPage().matchAll(/^\| `([a-z-]+)` /gm)];
    expect(limits.map(([, name]) => name)).toEqual(Object.keys(RATE_LIMITS));
  });

  it('lists the defaults of the service', () => {
    const environment = parseEnv(envExample().replaceAll(/^# (?=[A-Z][A-Z_]+=)/gm, ''));
    expect(environment).toMatchObject({ PORT: '3000', OTP_DAILY_TOTAL: '10000' });
    expect(loadConfig(environment)).toEqual(loadConfig({}));
  });

  it('lists the default of each rate limit', () => {
    const rows = configurationPage().matchAll(/^\| `([a-z-]+)` \| (\d+) \|/gm);
    const limits = [...rows].map(([, name, limit]) => `${name}=${limit}`).join(',');
    const env = { DEMO: '0' };
    expect(loadConfig({ ...env, RATE_LIMITS: limits }).rateLimits).toEqual(
      loadConfig(env).rateLimits,
    );
  });

  it('lists every command with its help', async () => {
    const page = await cliPage();
    const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, path]) => path);
    expect(headings).toEqual(commandTree().leaves.map(({ path }) => path));
    expect(page.match(/^Usage: /gm)).toHaveLength(headings.length);
  });

  it('lists each code of Twilio with its meaning, whether it is sent again, and what to do', () => {
    const page = readFileSync('docs/operate/messages.md', 'utf8');
    expect(messagesPage(page)).toBe(page);
    const rows = [...page.matchAll(/^\| `(\d{5})` \| \S.+\. \| (yes|no) \| \S.+\. \|$/gm)];
    expect(rows.map(([, code, sent]) => [Number(code), sent === 'yes'])).toEqual(
      Object.entries(TWILIO_ERRORS).map(([code, { retry }]) => [Number(code), retry]),
    );
  });

  it('lists, in the runbook of throttling, the setting of each limit in the metric and the audit log', () => {
    const [, section = ''] = readFileSync('docs/operate/alerts.md', 'utf8').split(
      '## Throttling\n',
    );
    const rows = section.split('\n## ')[0]?.matchAll(/^\| (`.*`) +\|.*`([\w-]+)` +\|$/gm) ?? [];
    const listed = [...rows].flatMap(([, labels = '', setting]) =>
      [...labels.matchAll(/`([\w-]+)`/g)].map(([, label]) => [label, setting]),
    );
    const expected = Object.entries(LIMITS).map(([name, [setting]]) => [name, setting]);
    expect(listed.toSorted()).toEqual(
      [...expected, ['otp-daily-total', 'OTP_DAILY_TOTAL']].toSorted(),
    );
  });

  it('O53 lists, for every region, spellings of a phone number that are accepted', () => {
    const page = readFileSync('docs/phone-numbers.md', 'utf8');
    expect(page).toBe(phoneNumbersPage());
    const rows = [...page.matchAll(/^\| .+ \(([A-Z]{2}), \+(\d+)\) \| `(\+\d+)` \| (.+) \|$/gm)];
    const listed = rows.map(([, code, callingCode]) => ({ code, callingCode }));
    const byCode = (one: { code?: string }) => one.code ?? '';
    expect(listed.toSorted((a, b) => (byCode(a) < byCode(b) ? -1 : 1))).toEqual(callingCodes());
    for (const [, code, , phone, cells = ''] of rows) {
      const columns = cells.split(' | ').map((cell) => [...cell.matchAll(/`([^`]+)`/g)]);
      const [national = [], withoutPlus = [], trunkPrefix = [], prefixes = []] = columns;
      expect(columns).toHaveLength(4);
      for (const [, typed = ''] of [...national, ...withoutPlus, ...trunkPrefix])
        expect(parsePhone(typed, code), `${code} ${typed}`).toBe(phone);
      for (const [, prefix = ''] of prefixes)
        expect(parsePhone(`${prefix} 358 41 2345678`, code), code).toBe('+358412345678');
      expect([national, withoutPlus, prefixes].filter((column) => column.length === 0)).toEqual([]);
    }
  });
});
