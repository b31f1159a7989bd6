import { readFileSync } from 'node:fs';
import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../access/public.decorator.js';

/** The one stylesheet of the server-rendered pages. */
@ApiExcludeController()
@Public()
@Controller('assets')
export class StylesheetController {
  private readonly css = readFileSync(new URL('./style.css', import.meta.url), 'utf8');

  @Get('style.css')
  @Header('Content-Type', 'text/css; charset=utf-8')
  @Header('Cache-Control', 'public, max-age=3600')
  stylesheet(): string {
    return this.css;
  }
}
