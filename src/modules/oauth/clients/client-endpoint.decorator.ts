import { applyDecorators, UseFilters, UseGuards } from '@nestjs/common';
import { Public } from '../../../platform/access/scopes.decorator.js';
import type { LimitedRoutes } from '../rate-limit/rate-limits.js';
import { LimitCalls } from '../rate-limit/call-limits.js';
import { BrowserOriginGuard } from './browser-origins.js';
import { ClientGuard } from './client.guard.js';
import { FormReadingGuard } from '../protocol/form-body.js';
import { OAuthErrorFilter } from './oauth-error.filter.js';
import { OtherSitesGuard } from '../protocol/fetch-metadata.guard.js';

/**
 * A controller that apps call with a form (RFC 6749 §3.2, RFC 7009 §2.1, RFC 7662 §2.1). The guards run in this order: read the
 * form, apply CORS, reject other sites, authenticate the client, count the call. Browser apps of other origins may read the
 * responses if the endpoint is `shared`.
 */
export function ClientEndpoint(
  routes: LimitedRoutes,
  { shared = true }: { shared?: boolean } = {},
): ClassDecorator {
  return applyDecorators(
    Public(),
    UseFilters(OAuthErrorFilter),
    UseGuards(
      FormReadingGuard,
      ...(shared ? [BrowserOriginGuard] : []),
      OtherSitesGuard,
      ClientGuard,
    ),
    LimitCalls(routes),
  );
}
