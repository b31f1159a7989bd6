import {
  applyDecorators,
  UseFilters,
  UseGuards,
  type CanActivate,
  type ExceptionFilter,
  type Type,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../../access/public.decorator.js';
import { PendingGuard } from './authorize/pending.guard.js';
import { FormBodyGuard } from './form-body.guard.js';
import { PageErrorFilter } from './page-error.filter.js';
import { SameOriginGuard } from './same-origin.guard.js';
import { Throttled } from './throttle/oauth-throttler.guard.js';

/**
 * A controller of forms on our own pages: same origin, within budget, and part of something that `belonging` finds, a pending
 * authorization request unless told otherwise; its errors are pages.
 */
export function BrowserForms(
  belonging: Type<CanActivate> = PendingGuard,
  errors: Type<ExceptionFilter> = PageErrorFilter,
): ClassDecorator {
  return applyDecorators(
    Public(),
    ApiExcludeController(),
    UseFilters(errors),
    UseGuards(SameOriginGuard),
    Throttled('decision'),
    UseGuards(FormBodyGuard, belonging),
  );
}
