import { loadConfig } from '../../platform/config/load-config.js';
import { welcome } from './welcome.js';

describe('The words at start', () => {
  it('tell how to run the example where it looks by default', () => {
    expect(welcome(loadConfig({}), { isDemo: true })).toMatch(/Try +npm run example\n/);
  });

  it('tell the example where to look when the service is elsewhere', () => {
    expect(welcome(loadConfig({ PORT: '4000' }), { isDemo: true })).toMatch(
      /Try +ISSUER=http:\/\/localhost:4000 npm run example\n/,
    );
  });

  it('offer nothing to try without a demo', () => {
    expect(welcome(loadConfig({}), { isDemo: false })).not.toContain('npm run example');
  });
});
