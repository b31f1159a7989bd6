import { loadConfig } from '../../platform/config/load-config.js';
import { DEMO_CONFIDENTIAL_CLIENT_ID, DEMO_PUBLIC_CLIENT_ID } from './demo.service.js';
import { type ShownDemo, welcome } from './welcome.js';

const DEMO: ShownDemo = {
  clientIds: [DEMO_PUBLIC_CLIENT_ID, DEMO_CONFIDENTIAL_CLIENT_ID],
  isTestMode: true,
};

describe('Welcome text', () => {
  it('contains the example command without ISSUER for the default URL', () => {
    expect(welcome(loadConfig({}), DEMO)).toMatch(/Try +npm run example\n/);
  });

  it('contains the example command with ISSUER for another URL', () => {
    expect(welcome(loadConfig({ PORT: '4000' }), DEMO)).toMatch(
      /Try +ISSUER=http:\/\/localhost:4000 npm run example\n/,
    );
  });

  it('contains the fixed code of the demo user', () => {
    expect(welcome(loadConfig({}), DEMO)).toMatch(/Sign in with +\+14155550101\n +Code +424242\n/);
  });

  it('names the public app of a demo of 1.1 in the example command, and where codes appear', () => {
    const old: ShownDemo = { clientIds: ['svc_app_1', 'svc_app_2'], isTestMode: false };
    expect(welcome(loadConfig({}), old)).toMatch(
      /Code +printed here\n +Try +CLIENT_ID=svc_app_1 npm run example\n/,
    );
  });

  it('contains no example command without a demo', () => {
    expect(welcome(loadConfig({}))).not.toContain('npm run example');
  });
});
