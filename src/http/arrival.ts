import type { Server } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { SECOND } from '../common/clock.js';
import { AppError } from '../common/errors.js';

export class RequestTimeout extends AppError {
  static readonly code = 'request_timeout';

  constructor() {
    super(
      RequestTimeout.code,
      'The body did not arrive in time. Send it at once, on a new connection: this one is closed.',
    );
  }
}

/**
 * Reads a body into `request.body`. What is still to come after `withinMs` milliseconds is not waited for: the connection
 * ends with the answer.
 * @throws RequestTimeout; what the parser refuses the body with
 */
export function arrivalOf(
  request: Request,
  response: Response,
  parse: RequestHandler,
  withinMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      response.setHeader('Connection', 'close');
      reject(new RequestTimeout());
    }, withinMs);
    parse(request, response, (error?: unknown) => {
      clearTimeout(timer);
      if (error === undefined) resolve();
      else reject(error);
    });
  });
}

/**
 * Node's own limits, for headers, which nobody of ours sees before they are complete, and for bodies that nobody reads. Node
 * looks for what is overdue once a second.
 */
export function limitArrival(server: Server, withinMs: number): void {
  server.headersTimeout = withinMs;
  server.requestTimeout = 2 * withinMs;
  // An option of Node's, which Nest has no way to pass on. The server reads it when it begins to listen.
  Object.assign(server, { connectionsCheckingInterval: SECOND });
}
