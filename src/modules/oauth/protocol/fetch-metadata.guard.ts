import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../../../platform/config/app-config.js';
import { InvalidRequest } from './oauth.errors.js';
import { ForeignForm, notAPage } from './page-error.js';

function isFromOtherSite(request: Request): boolean {
  return ['cross-site', 'same-site'].includes(request.get('sec-fetch-site') ?? '');
}

/**
 * Rejects requests that another site sends from a visitor's browser, unless that site may read the response. Runs before failed
 * attempts are counted: otherwise any site could use up the limits of its visitors.
 */
@Injectable()
export class OtherSitesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    if (isFromOtherSite(request) && !response.hasHeader('Access-Control-Allow-Origin')) {
      throw new InvalidRequest(
        'Another site may not send this from a browser. /oauth/token and /oauth/revoke take it from a public app at the origin of one of its redirect URIs, if it sends its client_id.',
      );
    }
    return true;
  }
}

/** Rejects requests for a part of another page, such as an image: any site could send requests with it. */
@Injectable()
export class NavigationGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const loadedAs = context.switchToHttp().getRequest<Request>().get('sec-fetch-dest');
    if (loadedAs !== undefined && loadedAs !== 'document') throw notAPage();
    return true;
  }
}

/**
 * Rejects forms that another site sent from the user's browser (RFC 6749 §10.12). Compares `Origin` with the configured issuer,
 * not with the `Host` header of the request.
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
    if (origin !== this.origin || isFromOtherSite(request)) throw new ForeignForm();
    return true;
  }
}
