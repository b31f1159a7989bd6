import { Module } from '@nestjs/common';
import { DemoModule } from '../modules/demo/demo.module.js';
import { OAuthModule } from '../modules/oauth/oauth.module.js';
import { PagesModule } from '../pages/pages.module.js';
import { DocsController } from './docs.controller.js';
import { GuideController } from './guide.controller.js';

@Module({
  imports: [PagesModule, DemoModule, OAuthModule],
  controllers: [DocsController, GuideController],
})
export class DocsModule {}
