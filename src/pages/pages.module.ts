import { Module } from '@nestjs/common';
import { PageRenderer } from './page-renderer.js';
import { StylesheetController } from './stylesheet.controller.js';

/** The look of every HTML page; which page to show when is decided by the modules that import this. */
@Module({
  controllers: [StylesheetController],
  providers: [PageRenderer],
  exports: [PageRenderer],
})
export class PagesModule {}
