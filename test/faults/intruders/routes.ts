import type { NestExpressApplication } from '@nestjs/platform-express';

interface RouterLayer {
  route?: { path: string; methods: Record<string, boolean> };
}

/** A route with more than these, from GET to TRACE, takes every method that there is. */
const HTTP_METHODS = 9;

export interface Route {
  /** In upper case; `ALL` is every method. */
  method: string;
  /** With `:` before the names of its parameters. */
  path: string;
}

/** Every route that the router serves, whoever put it there. */
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
