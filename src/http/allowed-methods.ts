import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Express } from 'express';
import { pathToRegexp } from 'path-to-regexp';

/** What Express' router tells about a route; missing in its types. */
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
