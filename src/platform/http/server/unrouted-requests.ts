import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import type { Express, NextFunction, Request, Response } from 'express';
import { pathToRegexp } from 'path-to-regexp';
import { MethodNotAllowed, UnknownPath } from '../../errors.js';

/** An item of `listRoutes` of Express' router, which its types do not declare. */
interface ListedRoute {
  path: string | RegExp;
  methods?: string[];
}

interface Resource {
  pattern: RegExp;
  methods: readonly string[];
}

/**
 * The methods of the application's routes, for the `Allow` header (RFC 9110 §15.5.6). Responds to requests without a route: 404 for an
 * unknown path; for a known path, 204 to OPTIONS, else 405. Needs no authentication, because guards run only for routes.
 */
@Injectable()
export class AllowedMethods implements OnModuleInit {
  private resources?: readonly Resource[];

  constructor(private readonly host: HttpAdapterHost) {}

  /** The value of `Allow` for a path, with `OPTIONS`; undefined if the path has no route. */
  of(path: string): string | undefined {
    this.resources ??= this.listResources();
    const matching = this.resources.filter(({ pattern }) => pattern.test(path));
    if (matching.length === 0) return undefined;
    const methods = new Set(['OPTIONS', ...matching.flatMap((resource) => resource.methods)]);
    return [...methods].toSorted().join(', ');
  }

  /** The path and methods of each route, without catch-all routes. Call only after all routes are registered. */
  private listResources(): Resource[] {
    const { router } = this.host.httpAdapter.getInstance<Express>();
    return (router as unknown as { listRoutes(): ListedRoute[] })
      .listRoutes()
      .flatMap(({ path, methods }) =>
        typeof path !== 'string' || path.includes('*') || methods === undefined
          ? []
          : [
              {
                pattern: pathToRegexp(path, { sensitive: true, trailing: false }).regexp,
                methods: methods.map((method) => method.toUpperCase()),
              },
            ],
      );
  }

  /** Nest calls it after all routes are registered. Commands have no HTTP adapter. */
  onModuleInit(): void {
    const server = this.host.httpAdapter as AbstractHttpAdapter | null;
    server?.use((request: Request, response: Response, next: NextFunction) => {
      this.respond(request, response, next);
    });
  }

  /** OPTIONS lists the methods of a resource (RFC 9110 §9.3.7). */
  private respond({ method, path }: Request, response: Response, next: NextFunction): void {
    const allow = this.of(path);
    if (allow === undefined) next(new UnknownPath());
    else if (method !== 'OPTIONS') next(new MethodNotAllowed(allow));
    else response.status(204).set('Allow', allow).end();
  }
}
