import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { Member } from './member.js';

/** A call whose body is still under way. */
export interface OpenCall {
  sent: ClientRequest;
  received: Request;
  response: ServerResponse;
}

/** A publish that has arrived with the first byte of its body. `sent` wants the others. */
export async function beginPublish(
  { app, token }: Member,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenCall> {
  const arrival = once(app.nest.getHttpServer(), 'request');
  const sent = request(`${app.baseUrl}/dev/v1/posts`, {
    method: 'POST',
    headers: {
      connection: 'close',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...headers,
    },
  });
  sent.on('error', () => undefined).write(body.slice(0, 1));
  const [received, response] = (await arrival) as [IncomingMessage, ServerResponse];
  return { sent, received: received as Request, response };
}
