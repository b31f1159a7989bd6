import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../access/public.decorator.js';
import { AppConfig } from '../../config/app-config.js';
import { DemoService } from '../../modules/demo/demo.service.js';
import { pageHeaders } from '../../pages/page-headers.js';
import { acceptedLanguage, type Language } from '../../pages/language.js';
import { PageRenderer } from '../../pages/page-renderer.js';
import { errorCodes } from './error-codes.js';

/** The pages for developers beside Swagger UI. */
@Public()
@ApiExcludeController()
@Controller()
export class LandingController {
  constructor(
    private readonly pages: PageRenderer,
    private readonly demo: DemoService,
    private readonly config: AppConfig,
  ) {}

  @Get()
  async landing(@Req() request: Request, @Res() response: Response): Promise<void> {
    const demo = this.config.demo && (await this.demo.isSeeded());
    const language = acceptedLanguage(request);
    const view = { docsUrl: '/docs', openApiUrl: '/openapi.json', demo };
    this.send(response.vary('Accept-Language'), this.pages.landing(view, language), language);
  }

  /** Where every error body's `doc_url` leads. */
  @Get('docs/errors')
  errors(@Res() response: Response): void {
    this.send(response, this.pages.errorCodes({ codes: errorCodes, docsUrl: '/docs' }), 'en');
  }

  private send(response: Response, html: string, language: Language): void {
    response.set(pageHeaders({ secure: this.config.secure, language })).send(html);
  }
}
