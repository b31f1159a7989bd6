import { Controller, Get, Param, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../access/public.decorator.js';
import { AppConfig } from '../../config/app-config.js';
import { acceptedLanguage } from '../../pages/language.js';
import { pageHeaders } from '../../pages/page-headers.js';
import { PageRenderer } from '../../pages/page-renderer.js';
import { PostPageErrorFilter } from './post-page-error.filter.js';
import { PublicPostsService } from './public-posts.service.js';

/** Where permalinks lead when this service is the site: a public post, for anybody. */
@ApiExcludeController()
@Public()
@UseFilters(PostPageErrorFilter)
@Controller('post')
export class PostPageController {
  constructor(
    private readonly posts: PublicPostsService,
    private readonly pages: PageRenderer,
    private readonly config: AppConfig,
  ) {}

  @Get(':id')
  async show(
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const language = acceptedLanguage(request);
    const html = this.pages.post(await this.posts.read(id), language);
    response
      .vary('Accept-Language')
      .set(pageHeaders({ secure: this.config.secure, language }))
      // Browsers and proxies may keep it, but ask each time: it goes when the post is deleted.
      .set('Cache-Control', 'no-cache')
      .send(html);
  }
}
