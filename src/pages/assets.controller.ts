import { readFileSync } from 'node:fs';
import { Controller, Get, Header, Param, Redirect, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../platform/access/scopes.decorator.js';
import { assetUrl } from '../platform/asset-url.js';
import { AppConfig } from '../platform/config/app-config.js';
import type { BrandColors } from '../platform/config/brand.js';
import { UnknownPath } from '../platform/errors.js';
import { PublicText } from '../platform/http/compression.js';
import { CACHE_FOR_ONE_HOUR } from './page-renderer.js';

/** Of the sign-in, consent and account pages, and of the guide. */
const SCRIPTS = ['code', 'consent', 'guide', 'submit-once'];

/** The files of the pages, and the icon at the address where browsers look for it by themselves. */
@ApiExcludeController()
@Public()
@Controller()
export class AssetsController {
  private readonly css: PublicText;
  private readonly scripts = new Map(
    SCRIPTS.map((name) => [name, new PublicText(readAsset(`${name}.js`))]),
  );
  private readonly svg = new PublicText(readAsset('icon.svg'));

  constructor(private readonly config: AppConfig) {
    const css = readAsset('style.css');
    const { colors } = config.brand;
    this.css = new PublicText(colors ? css + customColors(colors) : css);
  }

  @Get('assets/style.css')
  @Header('Content-Type', 'text/css; charset=utf-8')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  stylesheet(@Res() response: Response): Promise<void> {
    return this.css.send(response);
  }

  @Get('assets/:name.js')
  script(@Param('name') name: string, @Res() response: Response): Promise<void> {
    const script = this.scripts.get(name);
    if (script === undefined) throw new UnknownPath();
    response.set({
      'Content-Type': 'text/javascript; charset=utf-8',
      'Cache-Control': CACHE_FOR_ONE_HOUR,
    });
    return script.send(response);
  }

  @Get('assets/icon.svg')
  @Header('Content-Type', 'image/svg+xml; charset=utf-8')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  icon(@Res() response: Response): Promise<void> {
    return this.svg.send(response);
  }

  /** The logo of the network. A browser that opens it as a page runs no script in it. */
  @Get('assets/logo')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  @Header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
  logo(@Res() response: Response): void {
    const { logo } = this.config.brand;
    if (!logo) throw new UnknownPath();
    response.type(logo.type).send(Buffer.from(logo.content, 'base64'));
  }

  /** Keeps search engines away from pages that are useless to them (RFC 9309). */
  @Get('robots.txt')
  @Header('Content-Type', 'text/plain; charset=utf-8')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  robots(): string {
    return 'User-agent: *\nDisallow: /account\nDisallow: /dev/\nDisallow: /oauth/\n';
  }

  @Get('favicon.ico')
  @Redirect()
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  favicon(): { url: string; statusCode: number } {
    return { url: this.config.brand.logo ? '/assets/logo' : '/assets/icon.svg', statusCode: 302 };
  }
}

/** @param name of a file in the folder of this one */
function readAsset(name: string): string {
  return readFileSync(assetUrl(`src/pages/${name}`), 'utf8');
}

/** CSS that replaces the custom properties of style.css. */
function customColors({ light, dark }: BrandColors): string {
  return `\n${properties(light)}\n@media (prefers-color-scheme: dark) { ${properties(dark)} }\n`;
}

function properties({ accent, strong, on }: BrandColors['light']): string {
  return `:root { --accent: ${accent}; --accent-strong: ${strong}; --on-accent: ${on}; }`;
}
