import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { PageError } from '../../../pages/page-errors.js';

/** `same-site` is another origin, too, such as a sibling domain. */
export function isCrossOrigin(request: Request): boolean {
  return ['cross-site', 'same-site'].includes(request.get('sec-fetch-site') ?? '');
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
