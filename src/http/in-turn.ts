import type { NextFunction, Request, Response } from 'express';

/** Middleware that goes on at once, or answers. */
type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/** Several of them as one: each layer of Express' router is looked at for every request. */
export function inTurn(...middlewares: readonly Middleware[]): Middleware {
  return middlewares.reduceRight<Middleware>(
    (following, first) => (request, response, next) =>
      first(request, response, (error?: unknown) => {
        if (error === undefined) following(request, response, next);
        else next(error);
      }),
    (_request, _response, next) => next(),
  );
}
