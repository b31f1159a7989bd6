import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AUTHORIZE_PATH, languageOf } from '../../../pages/language.js';
import { PageError } from '../../../pages/page-errors.js';
import { PageRenderer } from '../../../pages/page-renderer.js';
import { textsFor } from '../../../pages/translations/translations.js';
import type { MessageView } from '../../../pages/views.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { isDatabaseUnavailable } from '../../../platform/database/errors.js';
import { RETRY_SECONDS, ServiceUnavailable } from '../../../platform/errors.js';
import {
  AuthorizationError,
  errorRedirect,
  sendRedirect,
} from '../protocol/authorization-response.js';
import { OAuthInvalidRequest, TooManyAttempts } from '../protocol/oauth.errors.js';
import { InvalidFormToken } from '../protocol/browser-binding.js';
import { Parameters } from '../protocol/parameters.js';
import { FORM_FAILURES, RequestLimits } from '../rate-limit/request-limits.js';
import { APPS_PAGE, isAccountPage, PageStates, typedPhone } from './page-state.js';

/** A link back to the app. */
interface ReturnLink {
  url: string;
  label: string;
}

declare module '../../../platform/request-context.js' {
  interface RequestContext {
    /** The app whose authorization request an error page is about, with a safe URL to return to, if there is one. */
    requestingApp?: { name: string; returnTo?: ReturnLink };
  }
}

type ShownError = Pick<PageError, 'status' | 'text'> &
  Partial<Pick<PageError, 'retryAfterSeconds' | 'requestId'>> & { code: string };

interface PageOptions {
  returnTo?: ReturnLink;
  /** Of the page of error codes. */
  anchor: string;
  /** In English, for the developers of the app. */
  description?: string;
}

/**
 * Redirects to the app for an `AuthorizationError`. Shows an error page for all other errors: at once, or after a redirect if our own
 * page sent the form, so that Reload does not repeat it. The limits that are checked before the body is read show it at once.
 */
@Catch()
export class PageErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(PageErrorFilter.name);

  constructor(
    private readonly renderer: PageRenderer,
    private readonly states: PageStates,
    private readonly limits: RequestLimits,
    private readonly config: AppConfig,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    if (thrown instanceof AuthorizationError) return this.returnError(response, thrown);
    const error = await this.recordFailedAttempt(request, this.toPageError(thrown));
    const { code, retryAfterSeconds: seconds } = error;
    const { context } = request;
    context.errorCode = code;
    if (context.resultPage === undefined) {
      const { returnTo } = context.requestingApp ?? {};
      return this.sendPage(response, error, { returnTo, anchor: `page-${code}` });
    }
    const { resultPage, requestId } = context;
    const typed = typedPhone(new Parameters(request.body));
    this.states.redirect(response, resultPage, { ...typed, error: code, seconds, requestId });
  }

  /** Redirects to the app, or shows the error with a link instead (RFC 9700 §4.11.2). */
  private returnError(response: Response, thrown: AuthorizationError): void {
    const { context } = response.req;
    const { code, message: description } = thrown.error;
    context.errorCode = code;
    const url = errorRedirect(thrown, this.config.publicUrl);
    if (!thrown.needsConfirmation) return sendRedirect(response, url);
    const label = context.requestingApp?.name ?? '';
    const text = () => textsFor(response.req).invalidAuthorizationRequest(label);
    this.sendPage(
      response,
      { status: 400, code, text },
      {
        returnTo: { url, label },
        anchor: `oauth-${code}`,
        description,
      },
    );
  }

  private sendPage(
    response: Response,
    error: ShownError,
    { returnTo, anchor, description }: PageOptions,
  ): void {
    const { status, code, retryAfterSeconds, requestId } = error;
    const { path, context } = response.req;
    const { recovery, apps } = textsFor(response.req);
    const isAccount = isAccountPage(path);
    const startAgain = isAccount ? recovery.backToAccount : recovery.backToApp;
    const footer = isAccount ? recovery.accountFooter : recovery.appFooter;
    let link: MessageView['link'];
    if (code === 'other_address') link = this.pageAtPublicUrl(response.req);
    else if (isAccount) link = { href: APPS_PAGE.url, text: apps.title };
    else if (returnTo) link = { href: returnTo.url, text: recovery.returnTo(returnTo.label) };
    const details = {
      code,
      description,
      requestId: requestId ?? context.requestId,
      documentationUrl: `/docs/errors#${anchor}`,
    };
    const appName = context.requestingApp?.name;
    const text = error.text(languageOf(response.req), startAgain);
    const view = { ...text, error: true, footer, link, appName, details };
    this.renderer.send(response, 'message', view, { status, retryAfterSeconds });
  }

  /** A link to the page of the form, by the name of the host under which its forms work. */
  private pageAtPublicUrl(request: Request): MessageView['link'] {
    const { publicUrl } = this.config;
    const referrer = request.get('referer') ?? '';
    const { pathname, search } = new URL(URL.canParse(referrer) ? referrer : publicUrl);
    let path = isAccountPage(request.path) ? APPS_PAGE.url : '/';
    // The later pages of an authorization request belong to the cookie of the other name.
    if (pathname === AUTHORIZE_PATH) path = `${pathname}${search}`;
    return { href: `${publicUrl}${path}`, text: publicUrl };
  }

  /** Returns the error of the response: if the attempt cannot be counted, that one. */
  private async recordFailedAttempt(request: Request, error: PageError): Promise<PageError> {
    if (!(error instanceof InvalidFormToken)) return error;
    try {
      await this.limits.record(request, FORM_FAILURES);
      return error;
    } catch (thrown) {
      return this.toPageError(thrown);
    }
  }

  private toPageError(thrown: unknown): PageError {
    if (thrown instanceof PageError) return thrown;
    if (thrown instanceof TooManyAttempts)
      return new PageError('too_many_attempts', thrown.retryAfterSeconds);
    if (thrown instanceof OAuthInvalidRequest) return new PageError('malformed_form');
    if (thrown instanceof ServiceUnavailable)
      return new PageError('service_unavailable', thrown.retryAfterSeconds);
    const error = isDatabaseUnavailable(thrown)
      ? new PageError('service_unavailable', RETRY_SECONDS)
      : new PageError('internal_error');
    this.logger.error(error.code, (thrown as Error)?.stack);
    return error;
  }
}
