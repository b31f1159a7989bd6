import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { oauth2Server } from './peers/oauth2-server/tables.js';
import { oidcProvider } from './peers/oidc-provider/tables.js';
import type { TokenTables } from './peers/token-tables.js';
import { profileOptions } from './profile.js';
import { startProgram, type Program } from './program.js';
import { SERVICE_TOKENS } from './service-tokens.js';

export const SERVICE = 'ours';
/** Another build of the service. */
export const BEFORE = 'before';
/** The programs that store idempotency keys. */
export const STORE_KEYS: readonly string[] = [SERVICE, BEFORE, 'express-keyed'];
/** The default of the service. */
const POOL_SIZE = '10';

/**
 * The settings that production requires, the loopback address, no metrics port, and a limit of comments and deletions that is
 * never reached, but checked like any limit. All others have their defaults.
 */
const SERVICE_ENV = {
  PUBLIC_URL: 'https://platform.example',
  OTP_PEPPER: randomBytes(48).toString('base64'),
  SMS_SENDER: 'webhook',
  SMS_WEBHOOK_URL: 'https://sms.example/messages',
  SMS_WEBHOOK_SECRET: randomBytes(48).toString('base64'),
  HOST: '127.0.0.1',
  METRICS_PORT: 'off',
  RATE_LIMITS: 'grant-writes-per-minute=1000000',
};

/** The tables of codes and tokens of each program that has a token endpoint. */
export const TOKEN_TABLES: Readonly<Record<string, TokenTables>> = {
  [SERVICE]: SERVICE_TOKENS,
  [BEFORE]: SERVICE_TOKENS,
  'oidc-provider': oidcProvider,
  'oauth2-server': oauth2Server,
};

interface ServiceOptions {
  name?: string;
  /** The checkout that contains the build. */
  folder?: string;
  nodeOptions?: readonly string[];
  /** Environment variables that override those of the benchmark. */
  env?: Readonly<Record<string, string>>;
  /** A folder for a CPU profile. */
  profile?: string;
}

/** Starts a build of the service; without options, the current one. */
export function startService(
  databaseUrl: string,
  { name = SERVICE, folder = '.', nodeOptions = [], env = {}, profile }: ServiceOptions = {},
): Promise<Program> {
  // Without the bundle, a profile shows the package of each function.
  const file = join(folder, profile === undefined ? 'dist/src/bundle/main.js' : 'dist/src/main.js');
  const options = [...nodeOptions, ...(profile === undefined ? [] : profileOptions(profile))];
  return startProgram(name, file, { ...databaseEnv(databaseUrl), ...SERVICE_ENV, ...env }, options);
}

export function startPeer(name: string, databaseUrl: string): Promise<Program> {
  return startProgram(name, `bench/dist/bench/peers/${name}/main.js`, databaseEnv(databaseUrl));
}

function databaseEnv(url: string): Record<string, string> {
  return { DATABASE_URL: url, DB_POOL_SIZE: POOL_SIZE };
}
