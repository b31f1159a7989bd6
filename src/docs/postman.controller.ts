import { readFile } from 'node:fs/promises';
import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../platform/access/scopes.decorator.js';
import { assetUrl } from '../platform/asset-url.js';
import { AppConfig } from '../platform/config/app-config.js';
import { CACHE_FOR_ONE_HOUR } from '../pages/page-renderer.js';
import { ORIGIN_PLACEHOLDER, POSTMAN_COLLECTION, POSTMAN_ENVIRONMENT } from './postman-files.js';

const CONTENT_TYPE = 'application/json; charset=utf-8';

/** The collection for Postman and its environment, with the addresses of this service. */
@Public()
@ApiExcludeController()
@Controller()
export class PostmanController {
  constructor(private readonly config: AppConfig) {}

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

  private async read(file: string): Promise<string> {
    const { publicUrl } = this.config;
    const text = await readFile(assetUrl(file), 'utf8');
    return text
      .replaceAll(ORIGIN_PLACEHOLDER.origin, publicUrl)
      .replaceAll(ORIGIN_PLACEHOLDER.host, new URL(publicUrl).host);
  }
}
