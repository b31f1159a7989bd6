import { applyDecorators, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { PageFormGuard } from '../protocol/form.guards.js';
import { SameOriginGuard } from '../protocol/fetch-metadata.guard.js';
import { LimitCalls } from '../rate-limit/call-limits.js';
import { FailedAttemptsGuard } from '../rate-limit/failed-attempts.js';
import { PageErrorFilter } from './page-error.filter.js';

/**
 * A controller for the forms of our pages. The guards check the origin, then the rate limits, then read the body. Each handler
 * must first find what the form belongs to: the authorization request, the sign-in, or the session of the account. Errors are HTML
 * pages.
 */
export function BrowserForms(): ClassDecorator {
  return applyDecorators(
    Public(),
    ApiExcludeController(),
    UseFilters(PageErrorFilter),
    UseGuards(SameOriginGuard, FailedAttemptsGuard),
    // The group of all forms: sign-in, consent and account.
    LimitCalls('decision'),
    UseGuards(PageFormGuard),
  );
}
