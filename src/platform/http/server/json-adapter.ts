import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type Request, type Response } from 'express';
import { expressServer } from './express-server.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Express' function for entity tags. */
type EntityTag = (body: string, encoding: BufferEncoding) => string;

/**
 * Sends objects as JSON, like Express, with two differences: it writes head and body at once, and only responses to GET and HEAD have
 * an entity tag (RFC 9110 §8.8.3).
 */
export class JsonAdapter extends ExpressAdapter {
  constructor() {
    // Express reads these settings when the adapter creates the router.
    super(express().enable('strict routing').enable('case sensitive routing'));
  }

  override initHttpServer(): void {
    this.httpServer = expressServer(this.getInstance<Express>());
  }

  override reply(response: Response, body: unknown, status?: number): unknown {
    const { req: request } = response;
    if (!isPlain(body) || response.hasHeader('Content-Type'))
      return super.reply(response, body, status);
    if (status !== undefined) response.statusCode = status;
    const text = JSON.stringify(body);
    response.setHeader('Content-Type', JSON_TYPE);
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, text);
    response.setHeader('ETag', (request.app.get('etag fn') as EntityTag)(text, 'utf8'));
    if (!isFresh(request)) return send(response, text);
    response.removeHeader('Content-Type');
    response.statusCode = 304;
    return response.end();
  }
}

function send(response: Response, text: string): Response {
  response.setHeader('Content-Length', Buffer.byteLength(text));
  return response.end(response.req.method === 'HEAD' ? undefined : text);
}

/** Skips the comparison if the request is unconditional. */
function isFresh(request: Request): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = request.headers;
  return (tags !== undefined || since !== undefined) && request.fresh;
}

function isPlain(body: unknown): body is object {
  if (typeof body !== 'object' || body === null) return false;
  const prototype: unknown = Object.getPrototypeOf(body);
  return prototype === Object.prototype || prototype === Array.prototype;
}
