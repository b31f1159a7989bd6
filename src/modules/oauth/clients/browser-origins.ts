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
import { Parameters } from '../protocol/parameters.js';
import { claimedClientIds } from '../protocol/presented-credentials.js';
import { AppsService } from './apps.service.js';

/** Sets the CORS headers for browser apps, without credentials (RFC 9700 §2.6). Error responses have them, too. */
@Injectable()
export class BrowserOriginGuard implements CanActivate {
  constructor(private readonly apps: AppsService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    response.vary('Origin');
    const origin = request.get('origin');
    const clientIds = claimedClientIds(request, new Parameters(request.body));
    if (origin !== undefined && (await this.apps.allowsOrigin(origin, clientIds))) {
      response.set({
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': 'WWW-Authenticate, Retry-After, X-Request-Id',
      });
    }
    return true;
  }
}

/** CORS preflight requests. Introspection has none, because it is not for browsers. */
@Public()
@ApiExcludeController()
@Controller('oauth')
export class PreflightController {
  constructor(private readonly apps: AppsService) {}

  @Options('token')
  @HttpCode(204)
  token(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<void> {
    return this.preflight(request, response);
  }

  @Options('revoke')
  @HttpCode(204)
  revoke(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<void> {
    return this.preflight(request, response);
  }

  private async preflight(request: Request, response: Response): Promise<void> {
    response.vary('Origin').set('Allow', 'OPTIONS, POST');
    const origin = request.get('origin');
    if (origin === undefined || !(await this.apps.allowsOrigin(origin))) return;
    response.set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'authorization, content-type, x-requested-with',
      // In seconds.
      'Access-Control-Max-Age': '600',
    });
  }
}
