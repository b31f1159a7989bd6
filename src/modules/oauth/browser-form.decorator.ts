import { applyDecorators, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../../access/public.decorator.js';
import { PendingGuard } from './authorize/pending.guard.js';
import { FormBodyGuard } from './form-body.guard.js';
import { PageErrorFilter } from './page-error.filter.js';
import { SameOriginGuard } from './same-origin.guard.js';
import { Throttled } from './throttle/oauth-throttler.guard.js';

/** A controller of forms on our own pages: same origin, within budget, part of a pending request; its errors are pages. */
export function BrowserForms(): ClassDecorator {
  return applyDecorators(
    Public(),
    ApiExcludeController(),
    UseFilters(PageErrorFilter),
    UseGuards(SameOriginGuard),
    Throttled('decision'),
    UseGuards(FormBodyGuard, PendingGuard),
  );
}
