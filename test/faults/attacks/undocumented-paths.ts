import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createRequire } from 'node:module';
import type { NestExpressApplication } from '@nestjs/platform-express';

/** Paths like `/dev/v1/me` in versions and spellings that do not exist. */
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

/** Paths that vulnerability scanners request. */
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

/** Files of the documentation library except those that its page loads, and their licences. */
export async function filesBeside(loaded: readonly (string | undefined)[]): Promise<string[]> {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('@nestjs/swagger'));
  const names = await readdir(dirname(resolve('swagger-ui-dist/package.json')));
  return names.filter(
    (name) =>
      !loaded.includes(name.replace(/\.LICENSE\.txt$/, '')) && !name.startsWith('oauth2-redirect.'),
  );
}

interface RouterLayer {
  route?: { path: string; methods: Record<string, boolean> };
}

/** Number of common methods, from GET to TRACE. A route with more accepts every method. */
const HTTP_METHODS = 9;

export interface Route {
  /** In upper case; `ALL` is every method. */
  method: string;
  /** With `:` before the names of its parameters. */
  path: string;
}

/** All routes of the router. */
export function routesOf(nest: NestExpressApplication): Route[] {
  const { stack } = nest.getHttpAdapter().getInstance().router as { stack: RouterLayer[] };
  return stack.flatMap(({ route }) => {
    if (route === undefined) return [];
    const methods = Object.keys(route.methods);
    return (methods.length > HTTP_METHODS ? ['all'] : methods).map((method) => ({
      method: method.toUpperCase(),
      path: route.path,
    }));
  });
}
