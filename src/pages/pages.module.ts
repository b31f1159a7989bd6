import { Module } from '@nestjs/common';
import { PageRenderer } from './page-renderer.js';
import { AssetsController } from './assets.controller.js';

/** The look of every HTML page; which page to show when is decided by the modules that import this. */
@Module({
  controllers: [AssetsController],
  providers: [PageRenderer],
  exports: [PageRenderer],
})
export class PagesModule {}
