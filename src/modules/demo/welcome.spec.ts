import { loadConfig } from '../../platform/config/load-config.js';
import { welcome } from './welcome.js';

describe('The welcome text', () => {
  it('prints the plain example command for the default address', () => {
    expect(welcome(loadConfig({}), { isDemo: true })).toMatch(/Try +npm run example\n/);
  });

  it('prints the example command with ISSUER for another address', () => {
    expect(welcome(loadConfig({ PORT: '4000' }), { isDemo: true })).toMatch(
      /Try +ISSUER=http:\/\/localhost:4000 npm run example\n/,
    );
  });

  it('prints no example command without a demo', () => {
    expect(welcome(loadConfig({}), { isDemo: false })).not.toContain('npm run example');
  });
});
