import OAuth2Server from '@node-oauth/oauth2-server';
import type { RequestHandler } from 'express';
import { newId } from '../../../src/platform/ids.js';
import { logRequest } from '../request-log.js';
import { TOKEN_RESPONSE_HEADERS, type RateLimitAndAudit } from '../rate-limit-and-audit.js';

declare global {
  namespace Express {
    interface Request {
      requestId: string;
    }
  }
}

const { OAuthError, Request, Response } = OAuth2Server;

/** Adds the request id, the log line and the response headers. */
export const observe: RequestHandler = (request, response, next) => {
  const startedAt = performance.now();
  request.requestId = newId('req', new Date());
  response.set({ 'X-Request-Id': request.requestId, ...TOKEN_RESPONSE_HEADERS });
  response.on('close', () => {
    const { requestId, method, path: route } = request;
    const durationMs = performance.now() - startedAt;
    logRequest({ requestId, method, route, status: response.statusCode, durationMs });
  });
  next();
};

/** Passes requests to the library and sends its responses. */
export function tokenEndpoint(
  server: OAuth2Server,
  limitAndAudit: RateLimitAndAudit,
): RequestHandler {
  return async (request, response) => {
    const { client_id: clientId, grant_type: grantType } = request.body as Record<string, string>;
    const { requestId, ip: address = '' } = request;
    if (await limitAndAudit.isRateLimited({ address, clientId: String(clientId) })) {
      response.status(429).json({ error: 'temporarily_unavailable' });
      return;
    }
    const result = new Response(response);
    try {
      const { client, user } = await server.token(new Request(request), result);
      const action = grantType === 'refresh_token' ? 'token.refreshed' : 'token.issued';
      const userId = String(user.id);
      await limitAndAudit.record({
        action,
        clientId: client.id,
        userId,
        subject: userId,
        requestId,
        address,
      });
      response.set(result.headers).json(result.body);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const { code, name, message } = error;
      response.set(result.headers).status(code).json({ error: name, error_description: message });
    }
  };
}
