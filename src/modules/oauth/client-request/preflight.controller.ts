import { Controller, HttpCode, Options, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../../access/public.decorator.js';
import { BrowserOrigins } from './browser-origins.js';

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
