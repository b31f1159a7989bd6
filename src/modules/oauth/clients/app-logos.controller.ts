import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { UnknownPath } from '../../../platform/errors.js';
import { isId } from '../../../platform/ids.js';
import { AppsService } from './apps.service.js';

const SHA256 = /^[0-9a-f]{64}$/;

/** Set by the handler, not by decorators, because browsers must not cache a 404. */
const HEADERS = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Serves the logos of apps. Another logo has another path. */
@ApiExcludeController()
@Public()
@Controller('assets/app-logos')
export class AppLogosController {
  constructor(private readonly apps: AppsService) {}

  /** Does not query the database if the address is malformed, or if the browser has the bytes with this SHA-256. */
  @Get(':client_id/:hash')
  async logo(
    @Param('client_id') clientId: string,
    @Param('hash') hash: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!isId('svc_app', clientId) || !SHA256.test(hash)) throw new UnknownPath();
    response.set('ETag', `"${hash}"`);
    if (request.fresh) {
      response.set(HEADERS).status(304).end();
      return;
    }
    const logo = await this.apps.findLogo(clientId, hash);
    if (!logo) {
      response.removeHeader('ETag');
      throw new UnknownPath();
    }
    response.set(HEADERS).type(logo.type).send(logo.content);
  }
}
