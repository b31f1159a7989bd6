import { oauth2Server } from './peers/oauth2-server/tables.js';
import { oidcProvider } from './peers/oidc-provider/tables.js';
import type { TokenPeer } from './peers/token-peer.js';
import { startProgram, type Program } from './program.js';
import { SERVICE_TOKENS } from './service-tokens.js';

export const SERVICE = 'ours';
const POOL_SIZE = '10';

/** The service runs with default settings, except for those that production requires. */
const SERVICE_ENV = {
  PUBLIC_URL: 'https://platform.example',
  OTP_PEPPER: 'of-the-benchmark-'.repeat(3),
  SMS_SENDER: 'webhook',
  SMS_WEBHOOK_URL: 'https://sms.example/messages',
  SMS_WEBHOOK_SECRET: 'of-the-benchmark-'.repeat(3),
  HOST: '127.0.0.1',
  METRICS_PORT: 'off',
};

/** The token tables of the programs that have a token endpoint. */
export const TOKENS: Readonly<Record<string, TokenPeer>> = {
  [SERVICE]: SERVICE_TOKENS,
  'oidc-provider': oidcProvider,
  'oauth2-server': oauth2Server,
};

/** Starts the service or a peer. */
export function startByName(
  name: string,
  databaseUrl: string,
  nodeOptions?: readonly string[],
): Promise<Program> {
  const shared = { DATABASE_URL: databaseUrl, DB_POOL_SIZE: POOL_SIZE };
  return name === SERVICE
    ? startProgram(name, 'dist/src/bundle/main.js', { ...shared, ...SERVICE_ENV }, nodeOptions)
    : startProgram(name, `dist/bench/peers/${name}/main.js`, shared);
}
