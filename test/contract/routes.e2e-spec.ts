import { Controller, Get, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { APP_FILTER, APP_GUARD, ModulesContainer } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { type Access, AccessTokenVerifier } from '../../src/platform/access/caller.js';
import { BearerGuard, ScopesGuard } from '../../src/platform/access/guards.js';
import { PUBLIC, REQUIRED_SCOPE, Scopes } from '../../src/platform/access/scopes.decorator.js';
import { SCOPES } from '../../src/platform/access/scopes.js';
import { AppConfig } from '../../src/platform/config/app-config.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { ApiErrorFilter } from '../../src/platform/http/errors/api-error.filter.js';
import { requestContext } from '../../src/platform/http/http-request-context.js';
import { ENDPOINTS } from '../support/api.js';
import { onOneEngine } from '../support/database.js';
import { FixedClock } from '../support/doubles.js';
import { useTestApp } from '../support/test-app.js';

interface Route {
  /** Such as `GET /dev/v1/me`. */
  name: string;
  isPublic: boolean;
  scope: string | undefined;
}

/** The routes of all controllers, with the access that their decorators declare. */
function controllerRoutes(nest: NestExpressApplication): Route[] {
  const controllers = [...nest.get(ModulesContainer).values()].flatMap((module) =>
    [...module.controllers.values()].map(({ metatype }) => metatype as Type),
  );
  return controllers.flatMap((controller) =>
    Object.values(Object.getOwnPropertyDescriptors(controller.prototype))
      .map(({ value }) => value as object)
      .filter(
        (member) => typeof member === 'function' && Reflect.hasMetadata(METHOD_METADATA, member),
      )
      .flatMap((handler) => {
        const declared = <T>(key: string): T | undefined =>
          Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, controller);
        const [prefixes = [], paths = []] = [controller, handler].map((part) =>
          [Reflect.getMetadata(PATH_METADATA, part) as string | string[]].flat(),
        );
        const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as number];
        const routes = prefixes.flatMap((prefix) => paths.map((path) => `${prefix}/${path}`));
        return routes.map((route) => ({
          name: `${method} /${route.split('/').filter(Boolean).join('/')}`,
          isPublic: declared<boolean>(PUBLIC) === true,
          scope: declared<string>(REQUIRED_SCOPE),
        }));
      }),
  );
}

/** The number of standard HTTP methods, from GET to TRACE. A route with more methods accepts every method. */
const HTTP_METHOD_COUNT = 9;

interface RouterLayer {
  route?: { path: string; methods: Record<string, boolean> };
}

/** The names of all routes of the Express router, such as `GET /dev/v1/me`. */
function routerRoutes(nest: NestExpressApplication): string[] {
  const { stack } = nest.getHttpAdapter().getInstance().router as { stack: RouterLayer[] };
  return stack.flatMap(({ route }) => {
    const methods = Object.keys(route?.methods ?? {});
    const names = methods.length > HTTP_METHOD_COUNT ? ['all'] : methods;
    return names.map((method) => `${method.toUpperCase()} ${route?.path}`);
  });
}

const PUBLIC_ROUTES = [
  'ALL /oauth/*path',
  'GET /',
  'GET /.well-known/oauth-authorization-server',
  'GET /.well-known/oauth-protected-resource/dev/v1',
  'GET /.well-known/security.txt',
  'GET /.well-known/{*path}',
  'GET /account',
  'GET /account/apps',
  'GET /account/apps/:client_id',
  'GET /account/apps/revoke',
  'GET /account/sign-in/:transaction/code',
  'GET /account/sign-in/:transaction/phone',
  'GET /account/{*path}',
  'GET /assets/:name.js',
  'GET /assets/app-logos/:client_id/:hash',
  'GET /assets/icon.svg',
  'GET /assets/logo',
  'GET /assets/style.css',
  'GET /docs/changelog.atom',
  'GET /docs/client.tgz',
  'GET /docs/errors',
  'GET /docs/errors.md',
  'GET /docs/guide',
  'GET /docs/guide/:name',
  'GET /docs/integrate.md',
  'GET /docs/postman-environment.json',
  'GET /docs/postman.json',
  'GET /favicon.ico',
  'GET /livez',
  'GET /llms.txt',
  'GET /oauth/authorize',
  'GET /oauth/authorize/:transaction/code',
  'GET /oauth/authorize/:transaction/consent',
  'GET /oauth/authorize/:transaction/phone',
  'GET /oauth/authorize/{*path}',
  'GET /post/:id',
  'GET /readyz',
  'GET /robots.txt',
  'OPTIONS /oauth/revoke',
  'OPTIONS /oauth/token',
  'POST /account/apps/revoke',
  'POST /account/sessions/end',
  'POST /account/sign-in',
  'POST /account/sign-out',
  'POST /account/sign-out-everywhere',
  'POST /account/verify',
  'POST /oauth/authorize/decision',
  'POST /oauth/authorize/sign-in',
  'POST /oauth/authorize/sign-out',
  'POST /oauth/authorize/verify',
  'POST /oauth/introspect',
  'POST /oauth/revoke',
  'POST /oauth/token',
];

const SCOPED_ROUTES = ENDPOINTS.map(({ method, path, scope }) => [
  `${method} /dev/v1${path.replace(/:\w+/, ':id')}`,
  scope ?? 'any',
]).toSorted();

onOneEngine('Every route of the application', (database) => {
  const app = useTestApp(database);

  it('declares either a scope or that it is public', () => {
    const routes = controllerRoutes(app().nest);
    expect(routes.filter(({ isPublic, scope }) => isPublic === (scope !== undefined))).toEqual([]);
    expect(routes.length).toBe(PUBLIC_ROUTES.length + SCOPED_ROUTES.length);
  });

  it('is public only if it is listed here', () => {
    const open = controllerRoutes(app().nest).filter(({ isPublic }) => isPublic);
    expect(open.map(({ name }) => name).toSorted()).toEqual(PUBLIC_ROUTES);
  });

  it('requires the scope of the product requirements; quota and requests require any token', () => {
    const scoped = controllerRoutes(app().nest).filter(({ isPublic }) => !isPublic);
    expect(scoped.map(({ name, scope }) => [name, scope]).toSorted()).toEqual(SCOPED_ROUTES);
  });

  it('belongs to a controller or to the documentation', () => {
    const handled = new Set(controllerRoutes(app().nest).map(({ name }) => name));
    const others = routerRoutes(app().nest).filter((name) => !handled.has(name));
    expect(handled.size).toBeLessThanOrEqual(routerRoutes(app().nest).length);
    expect(others.filter((name) => !/^GET \/(docs|openapi\.(json|yaml))/.test(name))).toEqual([]);
  });
});

describe('A route without a scope', () => {
  let ran = 0;

  @Controller('dev/v1')
  class UndeclaredController {
    @Get('forgotten')
    forgotten(): string {
      ran += 1;
      return 'secret';
    }

    @Get('declared')
    @Scopes('posts.read')
    declared(): string {
      return 'fine';
    }
  }

  class AcceptEveryToken extends AccessTokenVerifier {
    override async verify(): Promise<Access> {
      return {
        userId: 'usr_x',
        clientId: 'svc_app_x',
        test: false,
        grantId: 'grt_x',
        scopes: SCOPES,
        postLimit: null,
        savedLocation: { latitude: null, longitude: null, neighborhood: null },
      };
    }
  }

  let nest: NestExpressApplication;
  let url: string;
  beforeAll(async () => {
    const testing = await Test.createTestingModule({
      controllers: [UndeclaredController],
      providers: [
        { provide: AppConfig, useValue: loadConfig({ NODE_ENV: 'test' }) },
        { provide: AccessTokenVerifier, useClass: AcceptEveryToken },
        { provide: APP_GUARD, useClass: BearerGuard },
        { provide: APP_GUARD, useClass: ScopesGuard },
        { provide: APP_FILTER, useClass: ApiErrorFilter },
      ],
    }).compile();
    nest = testing.createNestApplication<NestExpressApplication>({ logger: false });
    nest.use(requestContext(new FixedClock()));
    await nest.listen(0, '127.0.0.1');
    url = await nest.getUrl();
  });
  afterAll(() => nest.close());

  const get = (path: string, headers: Record<string, string>) =>
    fetch(`${url}/dev/v1/${path}`, { headers });
  const good = { authorization: 'Bearer any' };

  it('returns 500 even for a token with every scope, and does not run its handler', async () => {
    expect((await get('declared', good)).status).toBe(200);
    const response = await get('forgotten', good);
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ error: 'internal_error' });
    expect(text).not.toMatch(/secret|Undeclared|scope/);
    expect(ran).toBe(0);
  });

  it('returns 401 without a token', async () => {
    expect((await get('forgotten', {})).status).toBe(401);
    expect(ran).toBe(0);
  });
});
