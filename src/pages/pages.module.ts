import { Module } from '@nestjs/common';
import { AssetsController } from './assets.controller.js';
import { PageRenderer } from './page-renderer.js';

@Module({
  controllers: [AssetsController],
  providers: [PageRenderer],
  exports: [PageRenderer],
})
export class PagesModule {}
