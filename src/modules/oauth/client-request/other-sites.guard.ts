import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { InvalidRequest } from '../oauth.errors.js';

const OTHER = new Set(['cross-site', 'same-site']);

/**
 * Refuses what another site sends from somebody's browser (Fetch Metadata), unless that site may read the answer: it would spend
 * the budgets of whoever looks at it. Comes before they are asked, so that it counts nowhere.
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
