import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { isCrossOrigin, isSameOrigin, PrefetchGuard } from '../protocol/fetch-metadata.js';
import { readForm } from '../protocol/form-body.js';
import { LimitCalls } from '../rate-limit/call-limits.js';
import { FORM_FAILURES, RequestLimits } from '../rate-limit/request-limits.js';
import { PageErrorFilter } from './page-error.filter.js';

/** A controller for pages and their forms. Errors are HTML pages. */
export function BrowserPages(): ClassDecorator {
  return applyDecorators(
    Public(),
    ApiExcludeController(),
    UseFilters(PageErrorFilter),
    UseGuards(PrefetchGuard),
  );
}

/**
 * Rejects forms that another origin sent from the user's browser (RFC 6749 §10.12), then those beyond the limits of failed attempts.
 * Compares `Origin`, if present, with the configured issuer, not with the `Host` header. `null` is the origin of our pages in a
 * sandbox, such as the embedded browser of an app; there `Sec-Fetch-Site` decides. The handler verifies the form token in any case.
 */
@Injectable()
class FormRequestGuard implements CanActivate {
  private readonly origin: string;

  constructor(
    private readonly limits: RequestLimits,
    { publicUrl }: AppConfig,
  ) {
    this.origin = new URL(publicUrl).origin;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const origin = request.get('origin') ?? this.origin;
    if (isCrossOrigin(request)) throw new PageError('foreign_form');
    const isOwn = origin === this.origin || (origin === 'null' && isSameOrigin(request));
    if (!isOwn)
      throw new PageError(isOtherName(request, origin) ? 'other_address' : 'foreign_form');
    await this.limits.check(request, FORM_FAILURES);
    return true;
  }
}

/** Whether our own page sent the form, opened by another name of this host, such as `www.` or an old domain. */
function isOtherName(request: Request, origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  return isSameOrigin(request) || new URL(origin).host === request.get('host');
}

/** Reads the form. It is a guard, not middleware, so that the exception filter of the controller handles its errors. */
@Injectable()
class FormBodyGuard implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [request, response] = context.getArgs<[Request, Response]>();
    await readForm(request, response, this.config.server.requestTimeoutMs);
    return true;
  }
}

const LimitFormCalls = LimitCalls('decision-calls-by-browser', 'decision-calls-by-address');

/**
 * Handles a form of our pages. The guards check the origin, then the rate limits, then read the body. The handler must first find
 * what the form belongs to, the authorization request, the sign-in, or the session of the account, and must redirect to the page
 * that shows the result.
 */
export function BrowserForm(): MethodDecorator {
  return applyDecorators(UseGuards(FormRequestGuard), LimitFormCalls, UseGuards(FormBodyGuard));
}
