import {
  applyDecorators,
  UseFilters,
  UseGuards,
  type CanActivate,
  type ExceptionFilter,
  type Type,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { FormBodyGuard } from '../protocol/form-body.js';
import { PageErrorFilter } from './page-error.filter.js';
import { SameOriginGuard } from '../protocol/fetch-metadata.guard.js';
import { LimitCalls } from '../rate-limit/call-limits.js';
import { FailedAttemptsGuard } from '../rate-limit/failed-attempts.js';

/**
 * A controller of forms on our own pages. The guards run in this order: same origin, rate limits, the form itself, then
 * `belonging`, which finds the request or session that the form belongs to. Errors are HTML pages.
 */
export function BrowserForms(
  belonging: Type<CanActivate>,
  errors: Type<ExceptionFilter> = PageErrorFilter,
): ClassDecorator {
  return applyDecorators(
    Public(),
    ApiExcludeController(),
    UseFilters(errors),
    UseGuards(SameOriginGuard, FailedAttemptsGuard),
    LimitCalls('decision'),
    UseGuards(FormBodyGuard, belonging),
  );
}
