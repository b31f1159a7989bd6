import { Catch, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../platform/config/app-config.js';
import { ApiErrorFilter } from '../platform/http/errors/api-error.filter.js';
import { type ErrorCode, UnknownPath } from '../platform/errors.js';
import { PageRenderer } from './page-renderer.js';
import { textsFor } from './translations/translations.js';

/** Under these paths, programs are the callers. */
const FOR_PROGRAMS = /^\/(dev\/v1|\.well-known)(\/|$)/;

/** The page for people who open an address that does not exist. */
@Injectable()
export class NotFoundPage {
  constructor(private readonly renderer: PageRenderer) {}

  /** @returns false if the request prefers JSON or is for an API; then nothing is sent */
  sendIfPreferred(request: Request, response: Response): boolean {
    if (FOR_PROGRAMS.test(request.path) || request.accepts(['json', 'html']) !== 'html')
      return false;
    const { title, paragraphs, home, account } = textsFor(request).notFound;
    const { requestId } = request.context;
    const code = 'not_found' satisfies ErrorCode;
    const details = { code, requestId, documentationUrl: `/docs/errors#${code}` };
    const link = { href: '/', text: home };
    // Not its constant: pages do not import modules.
    const otherLink = { href: '/account/apps', text: account };
    const view = { title, paragraphs, error: true, link, otherLink, details };
    this.renderer.send(response, 'message', view, { status: 404 });
    return true;
  }
}

/** Sends a page to browsers, and to all other clients the error body of the API. */
@Catch(UnknownPath)
export class UnknownPathFilter extends ApiErrorFilter {
  constructor(
    config: AppConfig,
    private readonly page: NotFoundPage,
  ) {
    super(config);
  }

  protected override send(error: UnknownPath, request: Request, response: Response): void {
    response.vary('Accept');
    if (!this.page.sendIfPreferred(request, response)) super.send(error, request, response);
  }
}
