import { readFileSync } from 'node:fs';
import { Controller, Get, Header, Param, Redirect, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../platform/access/scopes.decorator.js';
import { assetUrl } from '../platform/asset-url.js';
import { AppConfig } from '../platform/config/app-config.js';
import { UnknownPath } from '../platform/errors.js';
import { EXAMPLE_ORIGIN } from '../platform/http/developer-api.js';
import { CACHE_FOR_ONE_HOUR, PageRenderer } from '../pages/page-renderer.js';
import { CHANGELOG, changelogFeed, FEED_PATH } from './changelog-feed.js';
import {
  GUIDE_PATH,
  type GuidePage,
  guidePath,
  ERRORS_MARKDOWN,
  MARKDOWN_TYPE,
  markdownPath,
  OVERVIEW,
  REFERENCE_MARKDOWN,
  RENDERED_GUIDE,
} from './served-files.js';

const MARKDOWN_SUFFIX = '.md';

/** The guide for developers of apps, as pages and as Markdown (RFC 7763). */
@Public()
@ApiExcludeController()
@Controller()
export class GuideController {
  private pages: readonly GuidePage[] | undefined;

  constructor(
    private readonly renderer: PageRenderer,
    private readonly config: AppConfig,
  ) {}

  @Get(GUIDE_PATH)
  overview(@Res() response: Response): void {
    this.sendPage(OVERVIEW, response);
  }

  @Get(`${GUIDE_PATH}/:name`)
  page(@Param('name') name: string, @Res() response: Response): void {
    if (!name.endsWith(MARKDOWN_SUFFIX)) {
      this.sendPage(name, response);
      return;
    }
    const { markdown } = this.find(name.slice(0, -MARKDOWN_SUFFIX.length));
    // At the address of the page, for a client that prefers Markdown, a cache that ignores `Vary` would send it to browsers.
    if (response.req.originalUrl.endsWith(MARKDOWN_SUFFIX))
      response.set('Cache-Control', CACHE_FOR_ONE_HOUR);
    response.set('Content-Type', MARKDOWN_TYPE).send(markdown);
  }

  /** The path of the guide in version 1.0. */
  @Get('docs/integrate.md')
  @Redirect(markdownPath(OVERVIEW), 301)
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  formerGuide(): void {}

  /** Releases, for partners who want to be told of them. */
  @Get(FEED_PATH)
  @Header('Content-Type', 'application/atom+xml; charset=utf-8')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  feed(): string {
    return changelogFeed(this.find(CHANGELOG), this.config.publicUrl);
  }

  /** The list of pages for language models (llmstxt.org). */
  @Get('llms.txt')
  @Header('Content-Type', 'text/plain; charset=utf-8')
  @Header('Cache-Control', CACHE_FOR_ONE_HOUR)
  list(): string {
    const { publicUrl } = this.config;
    const guide = this.all().map(
      ({ slug, title, description }) =>
        `- [${title}](${publicUrl}${markdownPath(slug)}): ${description}`,
    );
    const [overview] = this.all();
    return `# Developer API

> ${overview?.description}

## Guide

${guide.join('\n')}

## Reference

- [API reference](${publicUrl}${REFERENCE_MARKDOWN}): all endpoints, with parameters, bodies and responses
- [OpenAPI document](${publicUrl}/openapi.json): the same for programs
- [Error codes](${publicUrl}${ERRORS_MARKDOWN}): the error codes of OAuth and of the API
- [Metadata](${publicUrl}/.well-known/oauth-authorization-server): the endpoints for OAuth (RFC 8414)
`;
  }

  private sendPage(slug: string, response: Response): void {
    const page = this.find(slug);
    const pages = this.all().map((other) => ({
      title: other.title,
      path: guidePath(other.slug),
      isCurrent: other === page,
    }));
    const { title, description, html, contents } = page;
    const view = {
      title,
      description,
      html,
      contents,
      pages,
      isOverview: slug === OVERVIEW,
      markdownPath: markdownPath(slug),
    };
    const headers = { 'Cache-Control': CACHE_FOR_ONE_HOUR };
    this.renderer.send(response, 'guide', view, { headers });
  }

  private find(slug: string): GuidePage {
    const page = this.all().find((one) => one.slug === slug);
    if (!page) throw new UnknownPath();
    return page;
  }

  /** Reads the file at the first request, since most processes never need it. */
  private all(): readonly GuidePage[] {
    this.pages ??= JSON.parse(
      readFileSync(assetUrl(RENDERED_GUIDE), 'utf8').replaceAll(
        EXAMPLE_ORIGIN,
        this.config.publicUrl,
      ),
    ) as GuidePage[];
    return this.pages;
  }
}
