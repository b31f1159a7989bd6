import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createRequire } from 'node:module';

/** Addresses of `/dev/v1/me` in versions and spellings that there are not. */
export const OTHER_VERSIONS = [
  '/dev/v0/me',
  '/dev/v2/me',
  '/dev/v1.1/me',
  '/dev/v1beta/me',
  '/dev/v1/v1/me',
  '/dev/me',
  '/v1/me',
  '/api/v1/me',
  '/DEV/V1/ME',
  '/dev/v1/me.json',
  '/dev/v1/me;v=2',
  '/internal/dev/v1/me',
];

/** What scanners ask every server for. */
export const LEFTOVERS = [
  '/.env',
  '/.git/HEAD',
  '/.npmrc',
  '/package.json',
  '/package-lock.json',
  '/node_modules/express/package.json',
  '/dist/src/main.js',
  '/data/service.sqlite',
  '/swagger.json',
  '/api-docs',
  '/graphql',
  '/metrics',
  '/server-status',
  '/actuator/env',
  '/debug/pprof',
  '/phpinfo.php',
  '/.well-known/openid-configuration',
  '/oauth/register',
  '/oauth/userinfo',
  '/docs/../package.json',
  '/docs/%2e%2e/package.json',
  '/docs/..%2f..%2fpackage.json',
  '/docs/....//package.json',
  '/assets/../../package.json',
];

/** Files of the library that shows the documentation beside those that its page loads, and their licences. */
export async function filesBeside(loaded: readonly (string | undefined)[]): Promise<string[]> {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('@nestjs/swagger'));
  const names = await readdir(dirname(resolve('swagger-ui-dist/package.json')));
  return names.filter(
    (name) =>
      !loaded.includes(name.replace(/\.LICENSE\.txt$/, '')) && !name.startsWith('oauth2-redirect.'),
  );
}
