import { Module } from '@nestjs/common';
import { PageRenderer } from './page-renderer.js';
import { AssetsController } from './assets.controller.js';

@Module({
  controllers: [AssetsController],
  providers: [PageRenderer],
  exports: [PageRenderer],
})
export class PagesModule {}
