import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  HttpCode,
  Injectable,
  Options,
  Req,
  Res,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { isId } from '../../../platform/ids.js';
import { Parameters } from '../protocol/parameters.js';
import { namedClientIds } from '../protocol/presented-credentials.js';
import { callingOrigin } from '../protocol/redirect-uri.js';
import { BrowserOriginsRepository } from './browser-origins.repository.js';

/** From which origins browser apps may call: those where an enabled public app has a redirect. */
@Injectable()
export class BrowserOrigins {
  constructor(private readonly repository: BrowserOriginsRepository) {}

  /**
   * `named` are the apps that the request names. If it names one, only that one's own origins count; if several, it
   * contradicts itself, and no origin does.
   */
  async isAllowed(origin: string, named: readonly string[] = []): Promise<boolean> {
    const from = callingOrigin(origin);
    if (from === undefined || named.length > 1) return false;
    const [clientId] = named;
    if (clientId !== undefined && !isId('svc_app', clientId)) return false;
    return this.repository.isRegistered(from, clientId);
  }
}

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

/** Seconds for which a browser need not ask again. */
const MAX_AGE = 600;

/** Answers the question that browsers ask before a call from another origin. Introspection is not for browsers. */
@Public()
@ApiExcludeController()
@Controller('oauth')
export class PreflightController {
  constructor(private readonly origins: BrowserOrigins) {}

  @Options('token')
  @HttpCode(204)
  token(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<void> {
    return this.answer(request, response);
  }

  @Options('revoke')
  @HttpCode(204)
  revoke(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<void> {
    return this.answer(request, response);
  }

  private async answer(request: Request, response: Response): Promise<void> {
    response.vary('Origin').set('Allow', 'OPTIONS, POST');
    const origin = request.get('origin');
    if (origin === undefined || !(await this.origins.isAllowed(origin))) return;
    response.set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'authorization, content-type, x-requested-with',
      'Access-Control-Max-Age': String(MAX_AGE),
    });
  }
}
