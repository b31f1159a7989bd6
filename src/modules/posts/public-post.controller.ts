import { Catch, Controller, Get, Param, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { acceptedLanguage, type Language } from '../../pages/language.js';
import { type ErrorText, PageError } from '../../pages/page-errors.js';
import { pageHeaders } from '../../pages/page-headers.js';
import { PageRenderer } from '../../pages/page-renderer.js';
import { CATALOGUES } from '../../pages/translations/translations.js';
import { Public } from '../../platform/access/scopes.decorator.js';
import { AppConfig } from '../../platform/config/app-config.js';
import type { AppError, ErrorCode } from '../../platform/errors.js';
import { ApiErrorFilter } from '../../platform/http/errors/api-error.filter.js';
import { PostsService } from './posts.service.js';

/** Sends errors as pages. Missing, deleted and hidden posts, and posts that are not public, have the same page. */
@Catch()
export class PublicPostErrorFilter extends ApiErrorFilter {
  constructor(
    config: AppConfig,
    private readonly pages: PageRenderer,
  ) {
    super(config);
  }

  protected override send({ code, extras }: AppError, request: Request, response: Response): void {
    const language = acceptedLanguage(request);
    const { requestId } = request.context;
    const details = { code, requestId, documentationUrl: `/docs/errors#${code}` };
    const view = { ...textFor(code, language), error: true, details };
    response
      .vary('Accept-Language')
      .set({ ...pageHeaders({ language }), ...extras.headers })
      .send(this.pages.message(view, language));
  }
}

function textFor(code: ErrorCode, language: Language): ErrorText {
  const { post } = CATALOGUES[language];
  if (code === 'not_found') return post.notFound;
  const pageCode = code === 'service_unavailable' ? code : 'internal_error';
  return new PageError(pageCode).text(language, post.openAgain);
}

/** Serves public posts at their permalinks, if SITE_URL is this service. */
@ApiExcludeController()
@Public()
@UseFilters(PublicPostErrorFilter)
@Controller('post')
export class PublicPostController {
  constructor(
    private readonly posts: PostsService,
    private readonly pages: PageRenderer,
  ) {}

  @Get(':id')
  async show(
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const language = acceptedLanguage(request);
    const html = this.pages.post(await this.posts.readPublic(id), language);
    response
      .vary('Accept-Language')
      .set(pageHeaders({ language }))
      // Caches must revalidate, because the post may be deleted or hidden.
      .set('Cache-Control', 'no-cache')
      .send(html);
  }
}
