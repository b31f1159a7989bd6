import type { Provider } from 'oidc-provider';
import { newId } from '../../../src/platform/ids.js';
import { logRequest } from '../request-log.js';
import { TOKEN_RESPONSE_HEADERS, type RateLimitAndAudit } from '../rate-limit-and-audit.js';

type Middleware = Parameters<Provider['use']>[0];

/**
 * Adds the request id, the log line, the response headers and the audit event. The rate limit applies to the address only,
 * because the library parses the form itself.
 */
export function observe(limitAndAudit: RateLimitAndAudit): Middleware {
  return async (context, next) => {
    const startedAt = performance.now();
    const requestId = newId('req', new Date());
    const { ip: address, method, path: route } = context;
    context.set({ 'X-Request-Id': requestId, ...TOKEN_RESPONSE_HEADERS });
    if (await limitAndAudit.isRateLimited({ address })) context.throw(429);
    await next();
    const { Client, AuthorizationCode, RefreshToken } = context.oidc?.entities ?? {};
    const token = AuthorizationCode ?? RefreshToken;
    if (context.status === 200 && Client && token)
      await limitAndAudit.record({
        action: AuthorizationCode ? 'token.issued' : 'token.refreshed',
        clientId: Client.clientId,
        userId: token.accountId ?? '',
        subject: token.grantId ?? '',
        requestId,
        address,
      });
    const durationMs = performance.now() - startedAt;
    logRequest({ requestId, method, route, status: context.status, durationMs });
  };
}
