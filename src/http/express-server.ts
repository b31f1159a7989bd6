import { createServer, IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { Express } from 'express';

/**
 * A server for one Express application, whose requests and responses have that application's prototypes from the beginning.
 * Express gives them to each otherwise; an object whose prototype is changed keeps all that it refers to alive until the next
 * full garbage collection, and is slow to use (decision 0019).
 */
export function expressServer(application: Express): Server {
  class ApplicationRequest extends IncomingMessage {}
  class ApplicationResponse extends ServerResponse<ApplicationRequest> {}
  const { prototype: request } = ApplicationRequest;
  const { prototype: response } = ApplicationResponse;
  Object.setPrototypeOf(request, application.request);
  Object.setPrototypeOf(response, application.response);
  Object.assign(application, { request, response });
  return createServer(
    { IncomingMessage: ApplicationRequest, ServerResponse: ApplicationResponse },
    application,
  );
}
