import { applyDecorators, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { FormBodyGuard } from '../protocol/form-body.js';
import { SameOriginGuard } from '../protocol/fetch-metadata.guard.js';
import { LimitCalls } from '../rate-limit/call-limits.js';
import { FailedAttemptsGuard } from '../rate-limit/failed-attempts.js';
import { PageErrorFilter } from './page-error.filter.js';

/**
 * A controller of forms on our own pages. The guards run in this order: same origin, rate limits, the form body. Each handler
 * then finds the request or session of its form first. Errors are HTML pages.
 */
export function BrowserForms(): ClassDecorator {
  return applyDecorators(
    Public(),
    ApiExcludeController(),
    UseFilters(PageErrorFilter),
    UseGuards(SameOriginGuard, FailedAttemptsGuard),
    LimitCalls('decision'),
    UseGuards(FormBodyGuard),
  );
}
