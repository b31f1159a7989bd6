import { loadConfig } from '../../platform/config/load-config.js';
import { welcome } from './welcome.js';

describe('Welcome text', () => {
  it('contains the example command without ISSUER for the default URL', () => {
    expect(welcome(loadConfig({}), { isDemo: true })).toMatch(/Try +npm run example\n/);
  });

  it('contains the example command with ISSUER for another URL', () => {
    expect(welcome(loadConfig({ PORT: '4000' }), { isDemo: true })).toMatch(
      /Try +ISSUER=http:\/\/localhost:4000 npm run example\n/,
    );
  });

  it('contains no example command without a demo', () => {
    expect(welcome(loadConfig({}), { isDemo: false })).not.toContain('npm run example');
  });
});
