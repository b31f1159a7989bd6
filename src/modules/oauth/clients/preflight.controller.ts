import { Controller, HttpCode, Options, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { AppsService } from './apps.service.js';

/** CORS preflight requests. Introspection has none, because it is not for browsers. */
@Public()
@ApiExcludeController()
@Controller('oauth')
export class PreflightController {
  constructor(private readonly apps: AppsService) {}

  @Options(['token', 'revoke'])
  @HttpCode(204)
  async preflight(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    response.vary('Origin').set('Allow', 'OPTIONS, POST');
    const origin = request.get('origin');
    if (origin === undefined || !(await this.apps.allowsOrigin(origin))) return;
    response.set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'authorization, content-type, test-fault, x-requested-with',
      // In seconds.
      'Access-Control-Max-Age': '600',
    });
  }
}
