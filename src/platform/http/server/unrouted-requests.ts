import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import type { Express, NextFunction, Request, Response } from 'express';
import { pathToRegexp } from 'path-to-regexp';
import { MethodNotAllowed, UnknownPath } from '../errors/http-error.js';

/** A route of Express' router; missing in its types. */
interface ListedRoute {
  path: string | RegExp;
  methods?: string[];
}

interface Resource {
  pattern: RegExp;
  methods: readonly string[];
}

/** Which methods the routes of this application take (RFC 9110 §15.5.6), as the router knows them. */
@Injectable()
export class AllowedMethods {
  private resources?: readonly Resource[];

  constructor(private readonly host: HttpAdapterHost) {}

  /** The value of `Allow` for this path, or undefined when nothing is there. `OPTIONS` is always taken. */
  of(path: string): string | undefined {
    this.resources ??= this.read();
    const matching = this.resources.filter(({ pattern }) => pattern.test(path));
    if (matching.length === 0) return undefined;
    const methods = new Set(['OPTIONS', ...matching.flatMap((resource) => resource.methods)]);
    return [...methods].toSorted().join(', ');
  }

  /** Read at the first question, when every route is there. Routes for whatever is left are no resource. */
  private read(): Resource[] {
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
}

/** Responds to requests without a route, before they need a token: 404, or 405 if another method exists. */
@Injectable()
export class UnroutedRequests implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly allowed: AllowedMethods,
  ) {}

  /** When this is called, every route of the application is there. A command serves none. */
  onModuleInit(): void {
    const server = this.host.httpAdapter as AbstractHttpAdapter | null;
    server?.use((request: Request, response: Response, next: NextFunction) => {
      this.answer(request, response, next);
    });
  }

  /** OPTIONS lists the methods of a resource (RFC 9110 §9.3.7). */
  private answer({ method, path }: Request, response: Response, next: NextFunction): void {
    const allow = this.allowed.of(path);
    if (allow === undefined) next(new UnknownPath());
    else if (method !== 'OPTIONS') next(new MethodNotAllowed(allow));
    else response.status(204).set('Allow', allow).end();
  }
}
