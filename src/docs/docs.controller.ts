import { Controller, Get, Req, Res } from '@nestjs/common';
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
  oauthCodes,
  pageCodes,
} from './error-catalogue.js';
import { GUIDE_PATH } from './guide-page.js';

const LINKS = {
  docsUrl: '/docs',
  openApiUrl: '/openapi.json',
  guideUrl: GUIDE_PATH,
  errorsUrl: '/docs/errors',
};

/** The developer pages, except Swagger UI and the guide. */
@Public()
@ApiExcludeController()
@Controller()
export class DocsController {
  constructor(
    private readonly pages: PageRenderer,
    private readonly demo: DemoService,
    private readonly config: AppConfig,
  ) {}

  @Get()
  async landing(@Req() request: Request, @Res() response: Response): Promise<void> {
    const hasDemo = this.config.demo && (await this.demo.isSeeded());
    const language = acceptedLanguage(request);
    const view = { ...LINKS, ...(hasDemo && { demo: { phone: ana.phone } }) };
    this.send(response.vary('Accept-Language'), this.pages.landing(view, language), language);
  }

  /** The `doc_url` of API errors links here. */
  @Get('docs/errors')
  errors(@Res() response: Response): void {
    const fieldsExample = fieldErrorsExample(this.config.publicUrl);
    const codes = { api: errorCodes, fields: fieldCodes, oauth: oauthCodes, pages: pageCodes };
    const view = { ...LINKS, ...codes, fieldsExample };
    this.send(response, this.pages.errorCodes(view), 'en');
  }

  private send(response: Response, html: string, language: Language): void {
    response.set(pageHeaders({ language })).send(html);
  }
}
