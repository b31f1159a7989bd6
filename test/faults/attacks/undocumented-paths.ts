import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createRequire } from 'node:module';
import type { NestExpressApplication } from '@nestjs/platform-express';

/** Paths that vulnerability scanners request. */
export const SCANNER_PATHS = [
  '/dev/v2/me',
  '/v1/me',
  '/api/v1/me',
  '/dev/v1/me.json',
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
  '/admin',
  '/debug',
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

/** The files of `swagger-ui-dist`, except those that `/docs` loads, their licences, and the OAuth redirect page. */
export async function unloadedSwaggerUiFiles(
  loaded: readonly (string | undefined)[],
): Promise<string[]> {
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

/** The number of standard methods (RFC 9110 §9, and PATCH). A route that lists more of them was registered for all methods. */
const STANDARD_METHODS = 9;

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
    return (methods.length > STANDARD_METHODS ? ['all'] : methods).map((method) => ({
      method: method.toUpperCase(),
      path: route.path,
    }));
  });
}
