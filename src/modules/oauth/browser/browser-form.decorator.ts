import { applyDecorators, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { PageFormGuard } from '../protocol/form-body.js';
import { SameOriginGuard } from '../protocol/fetch-metadata.guard.js';
import { LimitCalls } from '../rate-limit/call-limits.js';
import { FailedAttemptsGuard } from '../rate-limit/failed-attempts.js';
import { PageErrorFilter } from './page-error.filter.js';

const LimitFormCalls = LimitCalls('decision-calls-by-browser', 'decision-calls-by-address');

/** A controller for pages and their forms. Errors are HTML pages. */
export function BrowserPages(): ClassDecorator {
  return applyDecorators(Public(), ApiExcludeController(), UseFilters(PageErrorFilter));
}

/**
 * Handles a form of our pages. The guards check the origin, then the rate limits, then read the body. The handler must first find
 * what the form belongs to, the authorization request, the sign-in, or the session of the account, and must redirect to the page
 * that shows the result.
 */
export function BrowserForm(): MethodDecorator {
  return applyDecorators(
    UseGuards(SameOriginGuard, FailedAttemptsGuard),
    LimitFormCalls,
    UseGuards(PageFormGuard),
  );
}
