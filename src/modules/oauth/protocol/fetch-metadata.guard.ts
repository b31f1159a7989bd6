import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../../../platform/config/app-config.js';
import { InvalidRequest } from './oauth.errors.js';
import { ForeignForm, notAPage } from './page-error.js';

const OTHER = new Set(['cross-site', 'same-site']);

/**
 * Rejects requests that another site sends from a visitor's browser (Fetch Metadata), unless that site may read the response.
 * Runs before failed attempts are counted: otherwise any site could use up the limits of its visitors.
 */
@Injectable()
export class OtherSitesGuard implements CanActivate {
  /** @throws InvalidRequest */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    const isOther = OTHER.has(request.get('sec-fetch-site') ?? '');
    if (isOther && !response.hasHeader('Access-Control-Allow-Origin')) {
      throw new InvalidRequest(
        'Another site may not send this from a browser. /oauth/token and /oauth/revoke take it from a public app at the origin of one of its redirect URIs, if it sends its client_id.',
      );
    }
    return true;
  }
}

/** Rejects requests for a part of another page, such as an image (Fetch Metadata): any site could start requests with it. */
@Injectable()
export class NavigationGuard implements CanActivate {
  /** @throws PageError */
  canActivate(context: ExecutionContext): boolean {
    const loadedAs = context.switchToHttp().getRequest<Request>().get('sec-fetch-dest');
    if (loadedAs !== undefined && loadedAs !== 'document') throw notAPage();
    return true;
  }
}

/**
 * Refuses forms that another site sent from the user's browser (RFC 6749 §10.12). Stricter than the framework's check,
 * which compares with the Host header that the request itself brings: ours compares with the configured issuer.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  private readonly origin: string;

  constructor({ publicUrl }: AppConfig) {
    this.origin = new URL(publicUrl).origin;
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const origin = request.get('origin');
    const site = request.get('sec-fetch-site');
    const foreign =
      (origin !== undefined && origin !== this.origin) ||
      site === 'cross-site' ||
      site === 'same-site';
    if (foreign) throw new ForeignForm();
    return true;
  }
}
