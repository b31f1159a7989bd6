import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PageError } from '../../../pages/page-errors.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { OAuthInvalidRequest } from './oauth.errors.js';

/** `same-site` is another origin, too, such as a sibling domain. */
function isCrossOrigin(request: Request): boolean {
  return ['cross-site', 'same-site'].includes(request.get('sec-fetch-site') ?? '');
}

/**
 * Rejects browser requests from another origin, unless CORS allows that origin to read the response. Runs before failed attempts
 * are counted. Otherwise any site could exhaust the limits of its visitors.
 */
@Injectable()
export class CrossSiteGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    if (isCrossOrigin(request) && !response.hasHeader('Access-Control-Allow-Origin')) {
      throw new OAuthInvalidRequest(
        'Cross-site browser requests are rejected. A public app can call /oauth/token and /oauth/revoke with its client_id from the origin of one of its redirect URIs.',
      );
    }
    return true;
  }
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

/**
 * Rejects forms that another origin sent from the user's browser (RFC 6749 §10.12). Compares `Origin`, if present, with the
 * configured issuer, not with the `Host` header.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  private readonly origin: string;

  constructor({ publicUrl }: AppConfig) {
    this.origin = new URL(publicUrl).origin;
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const origin = request.get('origin') ?? this.origin;
    if (origin !== this.origin || isCrossOrigin(request)) throw new PageError('foreign_form');
    return true;
  }
}
