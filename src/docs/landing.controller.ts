import { Controller, Get, Header, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../platform/access/scopes.decorator.js';
import { AppConfig } from '../platform/config/app-config.js';
import { ana, DemoService } from '../modules/demo/demo.service.js';
import { pageHeaders } from '../pages/page-headers.js';
import { acceptedLanguage, type Language } from '../pages/language.js';
import { PageRenderer } from '../pages/page-renderer.js';
import {
  errorCodes,
  fieldCodes,
  fieldErrorsExample,
  guide,
  GUIDE_PATH,
  oauthCodes,
} from './error-catalogue.js';

const PLACES = {
  docsUrl: '/docs',
  openApiUrl: '/openapi.json',
  guideUrl: GUIDE_PATH,
  errorsUrl: '/docs/errors',
};

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
    const hasDemo = this.config.demo && (await this.demo.isSeeded());
    const language = acceptedLanguage(request);
    const view = { ...PLACES, ...(hasDemo && { demo: { phone: ana.phone } }) };
    this.send(response.vary('Accept-Language'), this.pages.landing(view, language), language);
  }

  /** Where every error body's `doc_url` leads. */
  @Get('docs/errors')
  errors(@Res() response: Response): void {
    const fieldsExample = fieldErrorsExample(this.config.publicUrl);
    const codes = { api: errorCodes, fields: fieldCodes, fieldsExample, oauth: oauthCodes };
    this.send(response, this.pages.errorCodes({ ...PLACES, ...codes }), 'en');
  }

  /** How an app is integrated, for who has nothing but this server's address (RFC 7763). */
  @Get(GUIDE_PATH)
  @Header('Content-Type', 'text/markdown; charset=utf-8')
  @Header('Cache-Control', 'public, max-age=3600')
  guide(): string {
    return guide;
  }

  private send(response: Response, html: string, language: Language): void {
    response.set(pageHeaders({ secure: this.config.secure, language })).send(html);
  }
}
