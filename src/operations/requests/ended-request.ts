import type { Request, Response } from 'express';
import { answeredStatus, CLIENT_LEFT, routeOf } from '../../http/request-outcome.js';

/** What is told of a request once its answer has left, or its client has. */
export interface EndedRequest {
  requestId: string;
  method: string;
  route: string;
  status: number;
  durationMs: number;
  /** The app that makes it, or that a form of ours is filled in for; undefined until it is known. */
  clientId?: string;
  /** The error that it was answered with. */
  errorCode?: string;
}

export function endedRequest(
  request: Request,
  response: Response,
  durationMs: number,
): EndedRequest {
  const { requestId, method, caller, authenticatedClient, pending, errorCode } = request;
  const status = answeredStatus(response);
  return {
    requestId,
    method,
    route: routeOf(request),
    status,
    durationMs,
    clientId: (caller ?? authenticatedClient ?? pending?.app)?.clientId,
    errorCode: status === CLIENT_LEFT ? undefined : errorCode,
  };
}
