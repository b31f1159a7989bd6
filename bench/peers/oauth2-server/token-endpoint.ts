import OAuth2Server from '@node-oauth/oauth2-server';
import type { RequestHandler } from 'express';

const { OAuthError, Request, Response } = OAuth2Server;

/** Hands requests to the library, and sends what it makes of them. */
export function tokenEndpoint(server: OAuth2Server): RequestHandler {
  return async (request, response) => {
    const answer = new Response(response);
    try {
      await server.token(new Request(request), answer);
      response.set(answer.headers).json(answer.body);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const { code, name, message } = error;
      response.set(answer.headers).status(code).json({ error: name, error_description: message });
    }
  };
}
