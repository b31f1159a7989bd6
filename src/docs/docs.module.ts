import { Module } from '@nestjs/common';
import { DemoModule } from '../modules/demo/demo.module.js';
import { PagesModule } from '../pages/pages.module.js';
import { DocsController } from './docs.controller.js';
import { GuideController } from './guide.controller.js';

@Module({
  imports: [PagesModule, DemoModule],
  controllers: [DocsController, GuideController],
})
export class DocsModule {}
