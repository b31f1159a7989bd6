import { readFile } from 'node:fs/promises';
import { Controller, Get, Header, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../platform/access/scopes.decorator.js';
import { assetUrl } from '../platform/asset-url.js';
import { AppConfig } from '../platform/config/app-config.js';
import { CACHE_FOR_ONE_HOUR } from '../pages/page-renderer.js';
import {
  CLIENT_PACKAGE,
  ORIGIN_PLACEHOLDER,
  POSTMAN_COLLECTION,
  POSTMAN_ENVIRONMENT,
} from './served-files.js';

const CONTENT_TYPE = 'application/json; charset=utf-8';

/** The files that developers download: those for Postman, and the TypeScript client. */
@Public()
@ApiExcludeController()
@Controller()
export class DownloadsController {
  constructor(private readonly config: AppConfig) {}

  /** The collection for Postman, and below its environment, with the addresses of this service. */
  @Get(POSTMAN_COLLECTION)
  @Header('Content-Type', CONTENT_TYPE)
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  collection(): Promise<string> {
    return this.read(POSTMAN_COLLECTION);
  }

  @Get(POSTMAN_ENVIRONMENT)
  @Header('Content-Type', CONTENT_TYPE)
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  environment(): Promise<string> {
    return this.read(POSTMAN_ENVIRONMENT);
  }

  /** The package of the TypeScript client, for `npm install https://…/docs/client.tgz`. */
  @Get(CLIENT_PACKAGE)
  @Header('Content-Type', 'application/gzip')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  async clientPackage(@Res() response: Response): Promise<void> {
    response.send(await readFile(assetUrl(CLIENT_PACKAGE)));
  }

  private async read(file: string): Promise<string> {
    const { publicUrl } = this.config;
    const text = await readFile(assetUrl(file), 'utf8');
    return text
      .replaceAll(ORIGIN_PLACEHOLDER.origin, publicUrl)
      .replaceAll(ORIGIN_PLACEHOLDER.host, new URL(publicUrl).host);
  }
}
