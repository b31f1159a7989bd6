import type { Request, Response } from 'express';

declare global {
  namespace Express {
    interface Request {
      /** The code of the error that it is answered with, set by the filters. */
      errorCode?: string;
    }
  }
}

/** Status of a request whose client left before its answer had: no answer has it. */
export const CLIENT_LEFT = 499;

/** The route of requests that none took: unknown paths, other methods, files of the documentation. */
export const UNROUTED = 'unrouted';

/** The pattern of the route that took the request, such as `/dev/v1/posts/:id`: never its path, which may hold anything. */
export function routeOf(request: Request): string {
  const { path } = (request.route ?? {}) as { path?: unknown };
  return typeof path === 'string' && !path.includes('*') ? path : UNROUTED;
}

/** The status that was answered. Known once the response is closed. */
export function answeredStatus(response: Response): number {
  return response.writableFinished ? response.statusCode : CLIENT_LEFT;
}
