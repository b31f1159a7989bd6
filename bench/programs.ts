import { oauth2Server } from './peers/oauth2-server/tables.js';
import { oidcProvider } from './peers/oidc-provider/tables.js';
import type { TokenTables } from './peers/token-tables.js';
import { startProgram, type Program } from './program.js';
import { SERVICE_TOKENS } from './service-tokens.js';

export const SERVICE = 'ours';
/** The default of the service. */
const POOL_SIZE = '10';

/** The settings that production requires, the loopback address, and no metrics port. All others have their defaults. */
const SERVICE_ENV = {
  PUBLIC_URL: 'https://platform.example',
  OTP_PEPPER: 'of-the-benchmark-'.repeat(3),
  SMS_SENDER: 'webhook',
  SMS_WEBHOOK_URL: 'https://sms.example/messages',
  SMS_WEBHOOK_SECRET: 'of-the-benchmark-'.repeat(3),
  HOST: '127.0.0.1',
  METRICS_PORT: 'off',
};

/** The tables of codes and tokens of each program that has a token endpoint. */
export const TOKEN_TABLES: Readonly<Record<string, TokenTables>> = {
  [SERVICE]: SERVICE_TOKENS,
  'oidc-provider': oidcProvider,
  'oauth2-server': oauth2Server,
};

/** Starts the service or a peer. `nodeOptions` and `settings` are for the service. */
export function startByName(
  name: string,
  databaseUrl: string,
  nodeOptions?: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const shared = { DATABASE_URL: databaseUrl, DB_POOL_SIZE: POOL_SIZE };
  const service = { ...shared, ...SERVICE_ENV, ...settings };
  return name === SERVICE
    ? startProgram(name, 'dist/src/bundle/main.js', service, nodeOptions)
    : startProgram(name, `bench/dist/bench/peers/${name}/main.js`, shared);
}
