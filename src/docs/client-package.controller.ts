import { readFile } from 'node:fs/promises';
import { Controller, Get, Header, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { CACHE_FOR_ONE_HOUR } from '../pages/page-renderer.js';
import { Public } from '../platform/access/scopes.decorator.js';
import { assetUrl } from '../platform/asset-url.js';
import { CLIENT_PACKAGE } from './client-package.js';

/** The package of the TypeScript client, for `npm install https://…/docs/client.tgz`. */
@Public()
@ApiExcludeController()
@Controller()
export class ClientPackageController {
  @Get(CLIENT_PACKAGE)
  @Header('Content-Type', 'application/gzip')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  async clientPackage(@Res() response: Response): Promise<void> {
    response.send(await readFile(assetUrl(CLIENT_PACKAGE)));
  }
}
