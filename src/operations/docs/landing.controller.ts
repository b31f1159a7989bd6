import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../../access/public.decorator.js';
import { AppConfig } from '../../config/app-config.js';
import { DemoService } from '../../modules/demo/demo.service.js';
import { pageHeaders } from '../../pages/page-headers.js';
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
  async landing(@Res() response: Response): Promise<void> {
    const demo = this.config.demo && (await this.demo.isSeeded());
    this.send(
      response,
      this.pages.landing({ docsUrl: '/docs', openApiUrl: '/openapi.json', demo }),
    );
  }

  /** Where every error body's `doc_url` leads. */
  @Get('docs/errors')
  errors(@Res() response: Response): void {
    this.send(response, this.pages.errorCodes({ codes: errorCodes, docsUrl: '/docs' }));
  }

  private send(response: Response, html: string): void {
    response.set(pageHeaders({ secure: this.config.secure })).send(html);
  }
}
