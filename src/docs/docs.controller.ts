import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../platform/access/scopes.decorator.js';
import { AppConfig } from '../platform/config/app-config.js';
import { ana, DemoService } from '../modules/demo/demo.service.js';
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
  async landing(@Res() response: Response): Promise<void> {
    const hasDemo = this.config.demo && (await this.demo.isSeeded());
    const view = { ...LINKS, ...(hasDemo && { demo: { phone: ana.phone } }) };
    this.pages.send(response, 'landing', view);
  }

  /** The `doc_url` of API errors links here. */
  @Get('docs/errors')
  errors(@Res() response: Response): void {
    const fieldsExample = fieldErrorsExample(this.config.publicUrl);
    const codes = { api: errorCodes, fields: fieldCodes, oauth: oauthCodes, pages: pageCodes };
    this.pages.send(response, 'errors', { ...LINKS, ...codes, fieldsExample });
  }
}
