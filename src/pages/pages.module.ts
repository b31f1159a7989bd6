import { Module } from '@nestjs/common';
import { AssetsController } from './assets.controller.js';
import { NotFoundPage } from './not-found-page.js';
import { PageRenderer } from './page-renderer.js';

@Module({
  controllers: [AssetsController],
  providers: [PageRenderer, NotFoundPage],
  exports: [PageRenderer, NotFoundPage],
})
export class PagesModule {}
