import { Catch, Controller, Get, Param, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { languageOf } from '../../pages/language.js';
import { type ErrorText, PageError } from '../../pages/page-errors.js';
import { PageRenderer } from '../../pages/page-renderer.js';
import { textsFor } from '../../pages/translations/translations.js';
import { Public } from '../../platform/access/scopes.decorator.js';
import { AppConfig } from '../../platform/config/app-config.js';
import type { AppError, ErrorCode } from '../../platform/errors.js';
import { isTestApp } from '../../platform/ids.js';
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
    const { requestId } = request.context;
    const details = { code, requestId, documentationUrl: `/docs/errors#${code}` };
    const view = { ...textFor(code, request), error: true, details };
    const { headers } = extras;
    this.pages.send(response, 'message', view, { status: response.statusCode, headers });
  }
}

function textFor(code: ErrorCode, request: Request): ErrorText {
  const { post } = textsFor(request);
  if (code === 'not_found') return post.notFound;
  const pageCode = code === 'service_unavailable' ? code : 'internal_error';
  return new PageError(pageCode).text(languageOf(request), post.openAgain);
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
  async show(@Param('id') id: string, @Res() response: Response): Promise<void> {
    const post = await this.posts.readPublic(id);
    // Caches must revalidate, because the post may be deleted or hidden.
    const test = isTestApp(post.clientId);
    const view = { ...post, permalink: this.posts.permalink(id), test };
    this.pages.send(response, 'post', view, {
      headers: { 'Cache-Control': 'no-cache', ...(test && { 'X-Robots-Tag': 'noindex' }) },
    });
  }
}
