import { Module } from '@nestjs/common';
import { DemoModule } from '../modules/demo/demo.module.js';
import { PagesModule } from '../pages/pages.module.js';
import { ClientPackageController } from './client-package.controller.js';
import { DocsController } from './docs.controller.js';
import { GuideController } from './guide.controller.js';
import { PostmanController } from './postman.controller.js';

@Module({
  imports: [PagesModule, DemoModule],
  controllers: [DocsController, GuideController, PostmanController, ClientPackageController],
})
export class DocsModule {}
