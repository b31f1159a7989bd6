import type { Provider } from 'oidc-provider';
import { newId } from '../../../src/platform/ids.js';
import { noteRequest } from '../request-log.js';
import { TOKEN_HEADERS, type TokenDuties } from '../token-duties.js';

type Middleware = Parameters<Provider['use']>[0];

/**
 * Gives each request an id and a line of the log, and each answer the headers of a token endpoint. Who fails too often is
 * looked for by address alone before, because the library reads the form itself; what was issued is written down after.
 */
export function observe(duties: TokenDuties): Middleware {
  return async (context, next) => {
    const startedAt = performance.now();
    const requestId = newId('req', new Date());
    const { ip: address, method, path: route } = context;
    context.set({ 'X-Request-Id': requestId, ...TOKEN_HEADERS });
    if (await duties.isThrottled('', address)) context.throw(429);
    await next();
    const { Client, AuthorizationCode, RefreshToken } = context.oidc?.entities ?? {};
    const token = AuthorizationCode ?? RefreshToken;
    if (context.status === 200 && Client && token)
      await duties.record({
        action: AuthorizationCode ? 'token.issued' : 'token.refreshed',
        clientId: Client.clientId,
        userId: token.accountId ?? '',
        subject: token.grantId ?? '',
        requestId,
        address,
      });
    const durationMs = performance.now() - startedAt;
    noteRequest({ requestId, method, route, status: context.status, durationMs });
  };
}
