import { applyDecorators, UseFilters, UseGuards } from '@nestjs/common';
import { Public } from '../../../access/public.decorator.js';
import type { ThrottledRoutes } from '../throttle/oauth-budgets.js';
import { Throttled } from '../throttle/oauth-throttler.guard.js';
import { BrowserOriginGuard } from './browser-origin.guard.js';
import { ClientGuard } from './client.guard.js';
import { FormReadingGuard } from './form-reading.guard.js';
import { OAuthErrorFilter } from './oauth-error.filter.js';
import { OtherSitesGuard } from './other-sites.guard.js';

/**
 * A controller that apps call themselves with a form (RFC 6749 §3.2, RFC 7009 §2.1, RFC 7662 §2.1): read, within budget, and
 * from a client that proved who it is. Unless it is not `shared`, browser apps of other origins may read its answers.
 */
export function ClientEndpoint(
  routes: ThrottledRoutes,
  { shared = true }: { shared?: boolean } = {},
): ClassDecorator {
  return applyDecorators(
    Public(),
    UseFilters(OAuthErrorFilter),
    UseGuards(FormReadingGuard, ...(shared ? [BrowserOriginGuard] : []), OtherSitesGuard),
    Throttled(routes),
    UseGuards(ClientGuard),
  );
}
