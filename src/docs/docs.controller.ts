import { readFile } from 'node:fs/promises';
import { Controller, Get, Header, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../platform/access/scopes.decorator.js';
import { AppConfig } from '../platform/config/app-config.js';
import { API_ERRORS, FIELD_ERRORS, InvalidRequest } from '../platform/errors.js';
import { PublicText } from '../platform/http/compression.js';
import { ErrorResponse } from '../platform/http/errors/api-errors.js';
import { APPS_PAGE } from '../modules/oauth/browser/page-state.js';
import { AppsService } from '../modules/oauth/clients/apps.service.js';
import { OAUTH_ERRORS } from '../modules/oauth/protocol/oauth.errors.js';
import { ana, DEMO_CODE, DemoService } from '../modules/demo/demo.service.js';
import { PAGE_ERRORS } from '../pages/page-errors.js';
import { PageRenderer, CACHE_FOR_ONE_HOUR } from '../pages/page-renderer.js';
import type { ErrorCodesView } from '../pages/views.js';
import { withOwnOrigins } from './openapi-document.js';
import { markdownOf } from './page-markdown.js';
import {
  GUIDE_PATH,
  CLIENT_PACKAGE,
  ERRORS_MARKDOWN,
  MARKDOWN_TYPE,
  ORIGIN_PLACEHOLDER,
  POSTMAN_COLLECTION,
  POSTMAN_ENVIRONMENT,
} from './served-files.js';
import { assetUrl } from '../platform/asset-url.js';

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

/** The developer pages, except Swagger UI and the guide; and the files for Postman and the TypeScript client. */
@Public()
@ApiExcludeController()
@Controller()
export class DocsController {
  /** By path. */
  private readonly postmanFiles = new Map<string, PublicText>();
  private errorCodesMarkdown?: string;

  constructor(
    private readonly pages: PageRenderer,
    private readonly demo: DemoService,
    private readonly apps: AppsService,
    private readonly config: AppConfig,
  ) {}

  @Get()
  async landing(@Res() response: Response): Promise<void> {
    const hasDemo = this.config.demo && (await this.demo.isSeeded());
    // Without this app, Swagger UI has no button "Authorize".
    const isTestMode = hasDemo && (await this.demo.isTestMode());
    const hasDocsApp = isTestMode && (await this.apps.findDocsApp()) !== null;
    const view = {
      ...LINKS,
      accountUrl: APPS_PAGE.url,
      ...(hasDemo && { demo: { phone: ana.phone, code: DEMO_CODE, hasDocsApp } }),
    };
    this.pages.send(response, 'landing', view);
  }

  /** The `doc_url` of API errors links here. */
  @Get('docs/errors')
  errors(@Res() response: Response): void {
    this.pages.send(response, 'errors', this.errorCodes());
  }

  @Get(ERRORS_MARKDOWN)
  @Header('Content-Type', MARKDOWN_TYPE)
  errorsMarkdown(): string {
    return (this.errorCodesMarkdown ??= markdownOf(
      this.pages.render('errors', this.errorCodes(), 'en'),
    ));
  }

  private errorCodes(): ErrorCodesView {
    const { publicUrl } = this.config;
    const example = ErrorResponse.from(INVALID_POST, 'req_01kahq5f3veqdr8bn3tdmx3q0a', publicUrl);
    return {
      ...LINKS,
      api: API_ERRORS,
      fields: FIELD_ERRORS,
      fieldsExample: JSON.stringify(example, null, 2),
      oauth: OAUTH_ERRORS,
      pages: PAGE_ERRORS,
      markdownPath: ERRORS_MARKDOWN,
    };
  }

  /** The files for Postman, with the addresses of this service. The router matches these two paths only, character by character. */
  @Get([POSTMAN_COLLECTION, POSTMAN_ENVIRONMENT])
  @Header('Content-Type', 'application/json; charset=utf-8')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  async postmanFile(@Req() { path }: Request, @Res() response: Response): Promise<void> {
    let file = this.postmanFiles.get(path);
    if (!file) {
      const { publicUrl } = this.config;
      const text = await readFile(assetUrl(path.slice(1)), 'utf8');
      file = new PublicText(
        withOwnOrigins(text, this.config)
          .replaceAll(ORIGIN_PLACEHOLDER.origin, publicUrl)
          .replaceAll(ORIGIN_PLACEHOLDER.host, new URL(publicUrl).host),
      );
      this.postmanFiles.set(path, file);
    }
    await file.send(response);
  }

  /** The package of the TypeScript client, for `npm install https://…/docs/client.tgz`. */
  @Get(CLIENT_PACKAGE)
  @Header('Content-Type', 'application/gzip')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  async clientPackage(@Res() response: Response): Promise<void> {
    response.send(await readFile(assetUrl(CLIENT_PACKAGE)));
  }
}
