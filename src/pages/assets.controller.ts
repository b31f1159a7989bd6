import { readFileSync } from 'node:fs';
import { Controller, Get, Header, Redirect } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../platform/access/scopes.decorator.js';
import { assetUrl } from '../platform/asset-url.js';

const CACHE_FOR_ONE_HOUR = 'public, max-age=3600';

/** The files of the pages, and the icon at the address where browsers look for it by themselves. */
@ApiExcludeController()
@Public()
@Controller()
export class AssetsController {
  private readonly css = readFileSync(assetUrl('src/pages/style.css'), 'utf8');
  private readonly js = readFileSync(assetUrl('src/pages/consent.js'), 'utf8');
  private readonly svg = readFileSync(assetUrl('src/pages/icon.svg'), 'utf8');

  @Get('assets/style.css')
  @Header('Content-Type', 'text/css; charset=utf-8')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  stylesheet(): string {
    return this.css;
  }

  @Get('assets/consent.js')
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  script(): string {
    return this.js;
  }

  @Get('assets/icon.svg')
  @Header('Content-Type', 'image/svg+xml')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  icon(): string {
    return this.svg;
  }

  @Get('favicon.ico')
  @Redirect('/assets/icon.svg', 301)
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  favicon(): void {
    // The decorators send the response.
  }
}
