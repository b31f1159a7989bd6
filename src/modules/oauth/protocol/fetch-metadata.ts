import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { PageError } from '../../../pages/page-errors.js';

/** Whether the browser says that the page and the target have the same origin. False without the header. */
export function isSameOrigin(request: Request): boolean {
  return request.get('sec-fetch-site') === 'same-origin';
}

/** `same-site` is another origin, too, such as a sibling domain. */
export function isCrossOrigin(request: Request): boolean {
  return ['cross-site', 'same-site'].includes(request.get('sec-fetch-site') ?? '');
}

/** Whether the response is for a frame of another page. A frame cannot show our pages (`frame-ancestors`), only follow redirects. */
export function isForFrame(request: Request): boolean {
  return ['frame', 'iframe'].includes(request.get('sec-fetch-dest') ?? '');
}

/**
 * Rejects requests for embedded content, such as images and frames. Any site could send them from the user's browser.
 * @throws PageError
 */
export function rejectEmbedding(request: Request): void {
  const destination = request.get('sec-fetch-dest');
  if (destination !== undefined && destination !== 'document') throw new PageError('not_a_page');
}

/** Runs `rejectEmbedding` before calls are counted. */
@Injectable()
export class NavigationGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    rejectEmbedding(context.switchToHttp().getRequest<Request>());
    return true;
  }
}

/** The standard header, and the names that older versions of Chromium, Safari and Firefox use. */
const PURPOSE_HEADERS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/**
 * Rejects requests that a browser sends before the user has clicked, for the speculation rules or prefetch links of another site.
 * Nothing may be stored for them. Browsers discard a response with an error status, and send the request again after the click.
 */
@Injectable()
export class PrefetchGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (PURPOSE_HEADERS.some((name) => /^(?:prefetch|preview)\b/i.test(request.get(name) ?? '')))
      throw new PageError('prefetch');
    return true;
  }
}
