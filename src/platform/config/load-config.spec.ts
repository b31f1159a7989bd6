import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from './load-config.js';

const PRODUCTION = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://dev.example.com',
  OTP_PEPPER: 'a pepper of at least 32 characters',
  SMS_SENDER: 'webhook',
  SMS_WEBHOOK_URL: 'https://sms.example.com/send',
  SMS_WEBHOOK_SECRET: 'a webhook secret',
};

const TWILIO = {
  SMS_SENDER: 'twilio',
  TWILIO_ACCOUNT_SID: 'AC1',
  TWILIO_FROM: '+14155550100',
};

const SERVER_URL = { DATABASE_URL: 'mysql://app:pw@db/platform' };

const HTTP_URL = 'must be an http or https URL';

function problemsOf(environment: Record<string, string | undefined>): readonly string[] {
  try {
    loadConfig({ NODE_ENV: 'test', ...environment });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('loadConfig', () => {
  it('normalizes the origin in PUBLIC_URL', () => {
    const env = { NODE_ENV: 'test', PUBLIC_URL: 'https://Dev.Example.com:443/' };
    expect(loadConfig(env).publicUrl).toBe('https://dev.example.com');
  });

  it('accepts a SITE_URL with a path', () => {
    expect(loadConfig({ SITE_URL: 'https://example.com/town/' }).siteUrl).toBe(
      'https://example.com/town',
    );
  });

  it('reports all problems at once, each in a sentence of its own', () => {
    const problems = problemsOf({
      NODE_ENV: 'production',
      DATABASE_URL: 'mysql://db/platform?ssl=true',
      OTP_PEPPER: 'short',
      LOG_LEVEL: 'loud',
      MIGRATE: 'yes',
      OAUTH_TOKEN_CALLS: '5',
      DATABASE_SSL: 'verify-full',
    });
    expect(problems).toEqual([
      'OAUTH_TOKEN_CALLS: is no longer a setting; set RATE_LIMITS=token-calls=…',
      'LOG_LEVEL: must be fatal, error, warn, info, debug, trace or silent',
      'DATABASE_URL: must not have parameters; set DATABASE_SSL and its files for TLS, and write ? in a password as %3F',
      'MIGRATE: must be 0 or 1',
      'OTP_PEPPER: must have at least 32 characters',
      'SMS_SENDER: console prints one-time passwords; choose webhook, twilio or file',
      'PUBLIC_URL: must be an https URL in production',
    ]);
  });

  describe('files of secrets', () => {
    let folder: string;
    let file: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'platform-config-'));
      file = join(folder, 'secret');
    });
    afterEach(() => rm(folder, { recursive: true }));

    it.each(['\n', '\r\n', ''])(
      'reads a secret and ignores the line break %j at its end',
      async (end) => {
        await writeFile(file, `${'p'.repeat(32)}${end}`);
        expect(loadConfig({ OTP_PEPPER_FILE: file }).otp.pepper).toBe('p'.repeat(32));
      },
    );

    it('reads DATABASE_URL, SMS_WEBHOOK_SECRET, TWILIO_AUTH_TOKEN and TWILIO_API_SECRET', async () => {
      await writeFile(file, 'mysql://app:pw@db/platform');
      expect(loadConfig({ DATABASE_URL_FILE: file }).database.address).toMatchObject({
        user: 'app',
      });
      await writeFile(file, 'another webhook secret');
      expect(
        loadConfig({ ...PRODUCTION, SMS_WEBHOOK_SECRET: '', SMS_WEBHOOK_SECRET_FILE: file }).sms,
      ).toMatchObject({ secret: 'another webhook secret' });
      expect(loadConfig({ ...TWILIO, TWILIO_AUTH_TOKEN_FILE: file }).sms).toMatchObject({
        username: 'AC1',
        password: 'another webhook secret',
      });
      const key = { TWILIO_API_KEY: 'SK1', TWILIO_API_SECRET_FILE: file };
      expect(loadConfig({ ...TWILIO, ...key }).sms).toMatchObject({
        accountSid: 'AC1',
        username: 'SK1',
        password: 'another webhook secret',
      });
    });

    it('rejects a missing or empty file, and a variable beside its file', async () => {
      expect(problemsOf({ OTP_PEPPER_FILE: file })).toEqual([
        expect.stringMatching(/^OTP_PEPPER_FILE: the file .* cannot be read: ENOENT/),
      ]);
      await writeFile(file, '\n');
      expect(problemsOf({ OTP_PEPPER_FILE: file })).toEqual([
        `OTP_PEPPER_FILE: the file ${file} is empty`,
      ]);
      expect(problemsOf({ OTP_PEPPER_FILE: file, OTP_PEPPER: 'p'.repeat(32) })).toEqual([
        'OTP_PEPPER, OTP_PEPPER_FILE: must not be set together; unset one of them',
      ]);
    });
  });

  it.each([
    // [variables, values, problem]
    [
      'PUBLIC_URL',
      ['https://dev.example.com/platform', 'https://dev.example.com?a=1', 'https://a.b/#c'],
      'must be an origin such as https://dev.example.com, without a path, query or fragment',
    ],
    [
      'SITE_URL',
      ['https://example.com/?a=1', 'https://example.com/town#top'],
      'must not have a query or fragment',
    ],
    ['PUBLIC_URL', ['no', 'example.com', 'ftp://example.com'], HTTP_URL],
    ['SITE_URL', ['no', 'example.com', 'ftp://example.com'], HTTP_URL],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', ['localhost:4318'], HTTP_URL],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      ['https://user:key@collector'],
      'must not contain a user name or password',
    ],
    ['OTP_SECONDS', [' ', '0x10', '1e3', '-1', '1.5', '+1', '１'], 'must be a whole number'],
    ['OTP_SECONDS', ['0'], 'must be at least 1'],
    ['OTP_SECONDS', ['601'], 'must be at most 600'],
    ['PORT', ['65536'], 'must be at most 65535'],
    ['QUOTA_DEFAULT_LIMIT', ['2147483648'], 'must be at most 2147483647'],
    ['DB_TIMEOUT_MS', ['3600001'], 'must be at most 3600000'],
    ['METRICS_PORT', ['x'], 'must be a port or off'],
    [
      'OTP_DAILY_TOTAL',
      ['0', '00', '-1', '1000000000', 'none', 'Unlimited'],
      'must be a whole number from 1 to 999999999, or unlimited; 0 would not stop messages',
    ],
    ['OTP_COUNTRIES', ['UK'], '"UK" is not a country with phone numbers; the code is GB'],
    [
      'OTP_COUNTRIES',
      ['US,XX'],
      '"XX" is not a country with phone numbers; use two-letter codes such as US or GB',
    ],
    ['OTP_DEFAULT_COUNTRY', ['UK'], '"UK" is not a country with phone numbers; the code is GB'],
    ['OTP_DEFAULT_COUNTRY', ['us'], '"us" is not a country with phone numbers; the code is US'],
    [
      'QUOTA_PLANS',
      ['default=5', 'partner=5,custom=unlimited'],
      'must not define "default" or "custom", which are reserved',
    ],
    [
      'QUOTA_PLANS',
      ['partner=2147483648', 'partner=9999999999,a=1'],
      'must not exceed 2147483647 posts; use unlimited instead',
    ],
    ['QUOTA_PLANS', ['partner'], 'must look like partner=1000,first-party=unlimited'],
    [
      'SMS_WEBHOOK_SECRET',
      ['short', `whsec_${'A'.repeat(20)}`, 'whsec_', 'whsec_!!!!!!!!!!!!!!!!!!!!'],
      'must contain a key of at least 16 bytes',
    ],
    [
      'RATE_LIMITS',
      ['token-calls', 'token-calls=-1', 'token-calls=1, phone-failures=2'],
      'must look like token-calls=20000,phone-messages-per-hour=3',
    ],
    ['RATE_LIMITS', ['token-calls=1,token-calls=2'], 'must not set token-calls twice'],
    ['RATE_LIMITS', ['token-calls=2147483648'], 'must not set token-calls above 2147483647'],
    [
      'RATE_LIMITS',
      ['token-call=1'],
      expect.stringMatching(/^has an unknown limit "token-call"; the limits are token-c/),
    ],
    [
      'RATE_LIMITS',
      ['constructor=1'],
      expect.stringMatching(/^has an unknown limit "constructor"; /),
    ],
    // The other invalid values are in trust-proxy.spec.ts.
    [
      'TRUST_PROXY',
      ['*'],
      expect.stringMatching(/^has "\*", which is neither an IP address nor a range/),
    ],
  ])('rejects %s with one of the values %j', (name, values, problem) => {
    for (const value of values)
      expect(problemsOf({ [name]: value }).map((line) => line.replace(`${name}: `, ''))).toEqual([
        problem,
      ]);
  });

  it.each([
    [
      { DATABASE_SSL: 'true', DATABASE_SSL_CA: '/ca.pem' },
      'DATABASE_SSL: must be off, required, verify-ca or verify-full',
    ],
    [{ DATABASE_SSL: 'true' }, 'DATABASE_SSL: must be off, required, verify-ca or verify-full'],
    [
      { DATABASE_SSL: 'required' },
      'DATABASE_SSL: only applies to a server; DATABASE_URL names a SQLite file',
    ],
    [
      { ...SERVER_URL, DATABASE_SSL_CA: '/ca.pem' },
      'DATABASE_SSL_CA: only applies with TLS; set DATABASE_SSL=verify-full',
    ],
    [
      { ...SERVER_URL, DATABASE_SSL: 'required', DATABASE_SSL_CA: '/ca.pem' },
      'DATABASE_SSL_CA: only applies with DATABASE_SSL=verify-ca or verify-full; required checks no certificate',
    ],
    [
      { ...SERVER_URL, DATABASE_SSL: 'verify-full', DATABASE_SSL_CERT: '/cert.pem' },
      'DATABASE_SSL_CERT, DATABASE_SSL_KEY: must be set together',
    ],
    [
      { ...SERVER_URL, DATABASE_SSL: 'verify-ca', DATABASE_SSL_CA: 'package.json' },
      'DATABASE_SSL_CA: must be a PEM certificate, or the path of one',
    ],
    [
      { ...SERVER_URL, DATABASE_SSL: 'verify-ca', DATABASE_SSL_CA: '/no/ca.pem' },
      "DATABASE_SSL_CA: the file /no/ca.pem cannot be read: ENOENT: no such file or directory, open '/no/ca.pem'",
    ],
  ])('rejects %o', (environment, problem) => {
    expect(problemsOf(environment)).toEqual([problem]);
  });

  describe('Twilio', () => {
    const token = { TWILIO_AUTH_TOKEN: 'token' };
    const sender =
      'must be a number such as +14155550100, a short code, a name of at most 11 letters and digits, or a messaging service: MG and 32 hexadecimal digits';

    it.each<[NodeJS.ProcessEnv, string]>([
      [
        {},
        'TWILIO_AUTH_TOKEN: is required with SMS_SENDER=twilio, unless TWILIO_API_KEY and TWILIO_API_SECRET are set',
      ],
      [{ TWILIO_API_KEY: 'SK1' }, 'TWILIO_API_KEY: must be set together with TWILIO_API_SECRET'],
      [
        { ...token, TWILIO_API_SECRET: 'secret' },
        'TWILIO_API_KEY: must be set together with TWILIO_API_SECRET',
      ],
      [
        { TWILIO_API_KEY: 'AC1', TWILIO_API_SECRET: 'secret' },
        'TWILIO_API_KEY: must be the SID of an API key, which begins with SK',
      ],
      [
        { ...token, TWILIO_ACCOUNT_SID: 'SK1' },
        'TWILIO_ACCOUNT_SID: must begin with AC; the SID of an API key, which begins with SK, belongs in TWILIO_API_KEY',
      ],
      ...[
        '14155550100',
        '+1 415 555 0100',
        '+0123456789',
        'Oak Street 12',
        'Straße',
        `MG${'0'.repeat(31)}`,
        `MG${'0'.repeat(33)}`,
        `MG${'g'.repeat(32)}`,
      ].map((from): [NodeJS.ProcessEnv, string] => [
        { ...token, TWILIO_FROM: from },
        `TWILIO_FROM: ${sender}`,
      ]),
    ])('rejects %o', (environment, problem) => {
      expect(problemsOf({ ...TWILIO, ...environment })).toContain(problem);
    });

    it.each(['+14155550100', '12345', 'MGBank', 'Oak Street', `MG${'0aF1'.repeat(8)}`])(
      'accepts the sender %s',
      (from) => {
        expect(problemsOf({ ...TWILIO, ...token, TWILIO_FROM: from })).toEqual([]);
      },
    );

    it('prefers an API key to the auth token', () => {
      const key = { TWILIO_API_KEY: 'SK1', TWILIO_API_SECRET: 'secret' };
      expect(loadConfig({ ...TWILIO, ...token, ...key }).sms).toMatchObject({
        accountSid: 'AC1',
        username: 'SK1',
        password: 'secret',
      });
    });
  });

  it('O52 sets the default limits of one-time passwords', () => {
    const { otp, rateLimits } = loadConfig({ DEMO: '0' });
    expect(otp).toMatchObject({ seconds: 300, dailyTotal: 10_000, countries: undefined });
    expect(rateLimits).toMatchObject({
      'phone-failures': 10,
      'phone-messages-per-minute': 1,
      'phone-messages-per-hour': 5,
      'phone-messages-per-day': 10,
      'address-messages-per-hour': 20,
    });
  });

  it('relaxes the limits of messages in a demo, unless RATE_LIMITS sets them', () => {
    const { rateLimits } = loadConfig({ DEMO: '1', RATE_LIMITS: 'phone-messages-per-day=7' });
    expect(rateLimits).toEqual({
      ...loadConfig({ DEMO: '0' }).rateLimits,
      'phone-messages-per-minute': 60,
      'phone-messages-per-hour': 200,
      'phone-messages-per-day': 7,
      'address-messages-per-hour': 200,
    });
  });

  it('parses named plans', () => {
    expect(
      loadConfig({ QUOTA_PLANS: 'small=0,large=2147483647,all=unlimited' }).quota.plans,
    ).toEqual({
      small: 0,
      large: 2_147_483_647,
      all: null,
    });
  });

  it('freezes the configuration deeply', () => {
    const config = loadConfig({ OTP_COUNTRIES: 'US' });
    const change = (object: object, member: string) => () => Object.assign(object, { [member]: 1 });
    for (const object of [config.server, config.database, config.otp, config.quota.plans])
      expect(change(object, 'timeoutMs')).toThrow(TypeError);
    expect(change(config.otp.countries ?? [], '0')).toThrow(TypeError);
    expect(config.server.metricsHost).toBe('127.0.0.1');
  });

  it('O126 sets the default limits of the OAuth routes', () => {
    expect(loadConfig({}).rateLimits).toMatchObject({
      'token-calls': 7500,
      'token-failures': 20,
      'token-address-failures': 100,
      'authorize-calls': 600,
      'sign-in-calls': 60,
      'sign-in-address-calls': 1800,
      'sign-in-failures': 20,
      'sign-in-address-failures': 60,
    });
  });

  it('changes only the rate limits that are given', () => {
    const { rateLimits } = loadConfig({ RATE_LIMITS: 'token-calls=20000,phone-failures=0' });
    expect(rateLimits).toEqual({
      ...loadConfig({}).rateLimits,
      'token-calls': 20_000,
      'phone-failures': 0,
    });
  });

  it('rejects a variable that was removed, and says what to do instead', () => {
    const given = { OTP_PHONE_HOURLY: '3', OAUTH_CODE_SECONDS: '60' };
    expect(problemsOf({ ...given, OAUTH_REFUSE_REUSED_CHALLENGE: '1' })).toEqual([
      'OTP_PHONE_HOURLY: is no longer a setting; set RATE_LIMITS=phone-messages-per-hour=…',
      'OAUTH_CODE_SECONDS: is no longer a setting; unset it; a code lives for 300 seconds',
      'OAUTH_REFUSE_REUSED_CHALLENGE: is no longer a setting; unset it; a reused challenge is accepted',
    ]);
  });

  it('accepts a safe configuration in production', () => {
    expect(problemsOf({ ...PRODUCTION, OTP_SECONDS: '600' })).toEqual([]);
    expect(loadConfig({}).server.trustProxy).toBe(0);
    expect(loadConfig({ TRUST_PROXY: '2' }).server.trustProxy).toBe(2);
  });

  const carriesPasswords = 'must be an https URL in production, as it carries one-time passwords';
  const guessable = 'can be guessed; generate one with: openssl rand -base64 48';
  const guessableKey = 'can be guessed; generate one with: echo "whsec_$(openssl rand -base64 32)"';
  it.each([
    ['SMS_WEBHOOK_URL', 'http://127.0.0.1:9000', carriesPasswords],
    ['TWILIO_API_URL', 'http://127.0.0.1:9000', carriesPasswords],
    ['OTP_PEPPER', 'not-secret-for-development-only!', guessable],
    ['OTP_PEPPER', 'a'.repeat(32), guessable],
    ['OTP_PEPPER', 'changeme'.repeat(5), guessable],
    ['SMS_WEBHOOK_SECRET', 'b'.repeat(16), guessableKey],
    ['SMS_WEBHOOK_SECRET', `whsec_${'A'.repeat(24)}`, guessableKey],
  ])('rejects %s=%s in production only: %s', (name, value, problem) => {
    expect(problemsOf({ ...PRODUCTION, [name]: value })).toEqual([`${name}: ${problem}`]);
    expect(problemsOf({ [name]: value })).toEqual([]);
  });

  it.each([undefined, ''])('requires NODE_ENV (%j) for an https PUBLIC_URL elsewhere', (mode) => {
    const problems = (PUBLIC_URL: string) => problemsOf({ NODE_ENV: mode, PUBLIC_URL });
    for (const url of ['https://dev.example.com', 'https://10.0.0.5', 'https://localhost.example'])
      expect(problems(url)).toEqual([
        'NODE_ENV: must be set, because PUBLIC_URL is not on this machine; set it to production, or to development for a test installation',
      ]);
    for (const url of [
      'https://localhost:3000',
      'https://dev.localhost',
      'https://127.0.0.1:3000',
      'https://[::1]:3000',
      'http://dev.example.com',
    ])
      expect(problems(url)).toEqual([]);
  });

  it('rejects a variable of --env-file whose value Node.js ends at #, and warns of variables of other programs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'platform-env-'));
    const file = join(folder, '.env');
    await writeFile(file, 'NETWORK_NAME="Elm #1"\nNETWORK_COLOR=#0d5c4d\nOTP_PEPPER_FILE=a#b\n');
    expect(() => loadConfig({ NODE_ENV: 'test' }, [file])).toThrow(
      `NETWORK_COLOR: Node.js and shells read different values from line 2 of ${file}; write it as NETWORK_COLOR='…'\n  - OTP_PEPPER_FILE: `,
    );
    await writeFile(file, 'NETWORK_COLOR="#0d5c4d"\nOTHER=x#y\n');
    expect(loadConfig({ NODE_ENV: 'test' }, [file]).warnings).toEqual([
      `OTHER: Node.js and shells read different values from line 2 of ${file}; write it as OTHER='…'`,
    ]);
    await rm(folder, { recursive: true });
  });

  it.each([
    // [variable, the setting that is meant]
    ['OTP_COUNTIRES', 'OTP_COUNTRIES'],
    ['OTP_COUNTRY', undefined],
    ['otp_countries', 'OTP_COUNTRIES'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABASE_URL_FLIE', 'DATABASE_URL_FILE'],
    ['RATE_LIMIT', 'RATE_LIMITS'],
    ['PUBLICURL', 'PUBLIC_URL'],
    // Of other programs.
    ['PATH', undefined],
    ['HOME', undefined],
    ['HOSTNAME', undefined],
    ['LOGNAME', undefined],
    ['DB_HOST', undefined],
    ['SMTP_URL', undefined],
    ['HTTP_PROXY', undefined],
    ['OTEL_EXPORTER_OTLP_HEADERS', undefined],
    ['npm_config_user_agent', undefined],
  ])('warns of the misspelled variable %s (%s)', (name, meant) => {
    expect(loadConfig({ [name]: 'x' }).warnings).toEqual(
      meant === undefined
        ? []
        : [`${name}: is ignored, because it is not a setting; the nearest name of one is ${meant}`],
    );
  });

  it('accepts an unlimited number of messages', () => {
    expect(loadConfig({ OTP_DAILY_TOTAL: 'unlimited' }).otp.dailyTotal).toBe(0);
  });

  it('requires OTP_PEPPER in production, and uses a fixed pepper otherwise', () => {
    expect(problemsOf({ ...PRODUCTION, OTP_PEPPER: '' })).toEqual([
      'OTP_PEPPER: is required in production; generate one with "openssl rand -base64 48"',
    ]);
    expect(loadConfig({}).otp.pepper).toBe(loadConfig({}).otp.pepper);
  });
});
