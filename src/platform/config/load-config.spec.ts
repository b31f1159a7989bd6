import { ConfigError, loadConfig } from './load-config.js';

const PRODUCTION = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://dev.example.com',
  OTP_PEPPER: 'a'.repeat(32),
  SMS_SENDER: 'webhook',
  SMS_WEBHOOK_URL: 'https://sms.example.com/send',
  SMS_WEBHOOK_SECRET: 'b'.repeat(16),
};

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('The configuration', () => {
  it.each(['https://dev.example.com/platform', 'https://dev.example.com?a=1', 'https://a.b/#c'])(
    'refuses %s as PUBLIC_URL, since only an origin can be the issuer',
    (url) => {
      expect(problemsOf({ PUBLIC_URL: url })).toEqual([
        'PUBLIC_URL: must be an origin such as https://dev.example.com, without a path, query or fragment',
      ]);
    },
  );

  it('takes an origin as browsers write it', () => {
    expect(loadConfig({ PUBLIC_URL: 'https://Dev.Example.com:443/' }).publicUrl).toBe(
      'https://dev.example.com',
    );
  });

  it('takes a SITE_URL with a path, and refuses one with a query or fragment', () => {
    expect(loadConfig({ SITE_URL: 'https://example.com/town/' }).siteUrl).toBe(
      'https://example.com/town',
    );
    for (const url of ['https://example.com/?a=1', 'https://example.com/town#top'])
      expect(problemsOf({ SITE_URL: url })).toEqual([
        'SITE_URL: must not have a query or fragment',
      ]);
  });

  it.each(['no', 'example.com', 'ftp://example.com'])('refuses %s as a URL in one line', (url) => {
    const line = 'must be an http or https URL';
    expect(problemsOf({ PUBLIC_URL: url, SITE_URL: url })).toEqual([
      `PUBLIC_URL: ${line}`,
      `SITE_URL: ${line}`,
    ]);
  });

  it.each([' ', '0x10', '1e3', '-1', '1.5', '+1', '１'])('refuses "%s" as a number', (text) => {
    expect(problemsOf({ OTP_SECONDS: text })).toEqual(['OTP_SECONDS: must be a whole number']);
  });

  it('refuses numbers beyond their bounds', () => {
    expect(
      problemsOf({ PORT: '65536', OTP_SECONDS: '0', QUOTA_DEFAULT_LIMIT: '2147483648' }),
    ).toEqual([
      'PORT: must be at most 65535',
      'OTP_SECONDS: must be at least 1',
      'QUOTA_DEFAULT_LIMIT: must be at most 2147483647',
    ]);
  });

  it('O52 has the limits of one-time passwords by default', () => {
    const { seconds, phoneFailures, resendSeconds, phoneHourly, phoneDaily } = loadConfig({}).otp;
    expect({ seconds, phoneFailures, resendSeconds, phoneHourly, phoneDaily }).toEqual({
      seconds: 300,
      phoneFailures: 10,
      resendSeconds: 60,
      phoneHourly: 5,
      phoneDaily: 10,
    });
    const { addressHourly, dailyTotal, countries } = loadConfig({}).otp;
    expect({ addressHourly, dailyTotal, countries }).toEqual({
      addressHourly: 20,
      dailyTotal: 10_000,
      countries: undefined,
    });
  });

  it('takes named plans', () => {
    expect(
      loadConfig({ QUOTA_PLANS: 'small=0,large=2147483647,all=unlimited' }).quota.plans,
    ).toEqual({
      small: 0,
      large: 2_147_483_647,
      all: null,
    });
  });

  it.each([
    ['default=5', 'must not give "default" or "custom", which are not plans'],
    ['partner=5,custom=unlimited', 'must not give "default" or "custom", which are not plans'],
    ['partner=2147483648', 'must not give more than 2147483647 posts; write unlimited instead'],
    ['partner=9999999999,a=1', 'must not give more than 2147483647 posts; write unlimited instead'],
    ['partner', 'must look like partner=1000,first-party=unlimited'],
  ])('refuses QUOTA_PLANS=%s', (plans, problem) => {
    expect(problemsOf({ QUOTA_PLANS: plans })).toEqual([`QUOTA_PLANS: ${problem}`]);
  });

  it.each([
    'short',
    `whsec_${Buffer.alloc(15).toString('base64')}`,
    'whsec_',
    'whsec_!!!!!!!!!!!!!!!!!!!!',
  ])('refuses the webhook secret %s, whose key is too short', (secret) => {
    expect(problemsOf({ SMS_WEBHOOK_SECRET: secret })).toEqual([
      'SMS_WEBHOOK_SECRET: must hold a key of at least 16 bytes',
    ]);
  });

  it('takes a webhook secret as text and as base64', () => {
    for (const secret of ['b'.repeat(16), `whsec_${Buffer.alloc(16).toString('base64')}`])
      expect(problemsOf({ SMS_WEBHOOK_SECRET: secret })).toEqual([]);
  });

  it('O126 has the limits of the OAuth routes by default', () => {
    expect(loadConfig({}).rateLimits).toEqual({
      windowSeconds: 900,
      tokenFailures: 20,
      tokenAddressFailures: 100,
      tokenCalls: 7500,
      authorizeCalls: 600,
      decisionFailures: 20,
      decisionAddressFailures: 60,
      decisionCalls: 60,
      decisionAddressCalls: 1800,
    });
  });

  it.each(['true', 'loopback', '10.0.0.0/8'])(
    'O130 refuses TRUST_PROXY=%s: only an exact number of proxies is safe',
    (value) => {
      expect(problemsOf({ TRUST_PROXY: value })).toEqual(['TRUST_PROXY: must be a whole number']);
      expect(loadConfig({ TRUST_PROXY: '2' }).server.trustProxy).toBe(2);
    },
  );

  it('is accepted in production when it is safe', () => {
    expect(problemsOf(PRODUCTION)).toEqual([]);
  });

  it.each(['SMS_WEBHOOK_URL', 'TWILIO_API_URL'])('refuses an http %s in production', (name) => {
    expect(problemsOf({ ...PRODUCTION, [name]: 'http://sms.example.com' })).toEqual([
      `${name}: must be an https URL in production, as it carries one-time passwords`,
    ]);
    expect(problemsOf({ [name]: 'http://127.0.0.1:9000' })).toEqual([]);
  });

  it('requires a pepper in production, and has the same one in every other process', () => {
    expect(problemsOf({ ...PRODUCTION, OTP_PEPPER: '' })).toEqual([
      'OTP_PEPPER: is required in production; make one with "openssl rand -base64 48"',
    ]);
    expect(loadConfig({}).otp.pepper).toBe(loadConfig({}).otp.pepper);
  });
});
