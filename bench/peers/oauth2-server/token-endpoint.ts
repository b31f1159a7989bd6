import OAuth2Server from '@node-oauth/oauth2-server';
import type { RequestHandler } from 'express';
import { newId } from '../../../src/platform/ids.js';
import { noteRequest } from '../request-log.js';
import { TOKEN_HEADERS, type TokenDuties } from '../token-duties.js';

declare global {
  namespace Express {
    interface Request {
      requestId: string;
    }
  }
}

const { OAuthError, Request, Response } = OAuth2Server;

/** Gives each request an id and a line of the log, and each answer the headers of a token endpoint. */
export const observe: RequestHandler = (request, response, next) => {
  const startedAt = performance.now();
  request.requestId = newId('req', new Date());
  response.set({ 'X-Request-Id': request.requestId, ...TOKEN_HEADERS });
  response.on('close', () => {
    const { requestId, method, path: route } = request;
    const durationMs = performance.now() - startedAt;
    noteRequest({ requestId, method, route, status: response.statusCode, durationMs });
  });
  next();
};

/** Hands requests to the library, and sends what it makes of them. */
export function tokenEndpoint(server: OAuth2Server, duties: TokenDuties): RequestHandler {
  return async (request, response) => {
    const { client_id: claimed, grant_type: type } = request.body as Record<string, string>;
    const { requestId, ip: address = '' } = request;
    if (await duties.isThrottled(String(claimed), address)) {
      response.status(429).json({ error: 'temporarily_unavailable' });
      return;
    }
    const answer = new Response(response);
    try {
      const { client, user } = await server.token(new Request(request), answer);
      const action = type === 'refresh_token' ? 'token.refreshed' : 'token.issued';
      const userId = String(user.id);
      await duties.record({
        action,
        clientId: client.id,
        userId,
        subject: userId,
        requestId,
        address,
      });
      response.set(answer.headers).json(answer.body);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const { code, name, message } = error;
      response.set(answer.headers).status(code).json({ error: name, error_description: message });
    }
  };
}
