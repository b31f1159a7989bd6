import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { namedClientIds } from '../apps/presented-credentials.js';
import { Parameters } from '../parameters.js';
import { BrowserOrigins } from './browser-origins.js';

/** Where a browser app may read answers, it may read the refusals too (RFC 9700 §2.6). Never with cookies. */
@Injectable()
export class BrowserOriginGuard implements CanActivate {
  constructor(private readonly origins: BrowserOrigins) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    response.vary('Origin');
    const origin = request.get('origin');
    const named = namedClientIds(request, new Parameters(request.body));
    if (origin !== undefined && (await this.origins.isAllowed(origin, named))) {
      response.set({
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': 'WWW-Authenticate, Retry-After, X-Request-Id',
      });
    }
    return true;
  }
}
