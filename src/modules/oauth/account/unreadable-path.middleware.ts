import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { sendRedirect } from '../authorize/authorization-response.js';
import { APPS_PATH } from '../oauth-pages.js';
import { isWellEncoded } from '../parameters.js';

/** Leads a browser to the list whose address the router could not decode, and would refuse with an error for programs. */
@Injectable()
export class UnreadablePathMiddleware implements NestMiddleware {
  use({ method, originalUrl }: Request, response: Response, next: NextFunction): void {
    const [path = ''] = originalUrl.split('?');
    if (method === 'POST' || isWellEncoded(path)) next();
    else sendRedirect(response, APPS_PATH);
  }
}
