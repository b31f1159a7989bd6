import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../platform/access/scopes.decorator.js';
import { AppConfig } from '../platform/config/app-config.js';
import { API_ERRORS, FIELD_ERRORS, InvalidRequest } from '../platform/errors.js';
import { ErrorResponse } from '../platform/http/errors/api-errors.js';
import { OAUTH_ERRORS } from '../modules/oauth/protocol/oauth.errors.js';
import { ana, DemoService } from '../modules/demo/demo.service.js';
import { PAGE_ERRORS } from '../pages/page-errors.js';
import { PageRenderer } from '../pages/page-renderer.js';
import { GUIDE_PATH } from './guide-page.js';

const LINKS = {
  docsUrl: '/docs',
  openApiUrl: '/openapi.json',
  guideUrl: GUIDE_PATH,
  errorsUrl: '/docs/errors',
};

/** The error of a post with latitude 91 and a blank tag. */
const INVALID_POST = InvalidRequest.fields([
  { field: 'tags', code: 'blank', message: 'tags[1] must not be blank.' },
  { field: 'latitude', code: 'too_large', message: 'latitude must be at most 90.' },
]);

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
    const { publicUrl } = this.config;
    const example = ErrorResponse.from(INVALID_POST, 'req_01kahq5f3veqdr8bn3tdmx3q0a', publicUrl);
    this.pages.send(response, 'errors', {
      ...LINKS,
      api: API_ERRORS,
      fields: FIELD_ERRORS,
      fieldsExample: JSON.stringify(example, null, 2),
      oauth: OAUTH_ERRORS,
      pages: PAGE_ERRORS,
    });
  }
}
