import { readFile } from 'node:fs/promises';
import { configurationTable, envExample, withConfigurationTable } from '../../tools/env-example.js';
import { envSchema } from '../../src/platform/config/env.js';
import { loadConfig } from '../../src/platform/config/load-config.js';

describe('Documentation of the configuration', () => {
  it('is current in .env.example', async () => {
    expect(await readFile('.env.example', 'utf8')).toBe(envExample());
  });

  it('is current in the README', async () => {
    const readme = await readFile('README.md', 'utf8');
    expect(withConfigurationTable(readme)).toBe(readme);
  });

  it('lists every variable once in both places', () => {
    const names = Object.keys(envSchema.shape);
    const inExample = [...envExample().matchAll(/^# ([A-Z][A-Z_]+)=/gm)];
    expect(inExample.map(([, name]) => name)).toEqual(names);
    const inTable = [...configurationTable().matchAll(/^\| `([A-Z_]+)` /gm)];
    expect(inTable.map(([, name]) => name)).toEqual(names);
  });

  it('lists the defaults of the service', () => {
    const uncommented = envExample().matchAll(/^# ([A-Z][A-Z_]+)=(.*)$/gm);
    const environment = Object.fromEntries(
      [...uncommented].map(([, name, value]) => [name, value]),
    );
    expect(environment).toMatchObject({
      PORT: '3000',
      OAUTH_TOKEN_CALLS: '7500',
    });
    const { otp: documented, ...rest } = loadConfig(environment);
    const { otp, ...defaults } = loadConfig({});
    expect(rest).toEqual(defaults);
    expect({ ...documented, pepper: '' }).toEqual({ ...otp, pepper: '' });
  });
});
