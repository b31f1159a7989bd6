import { Module } from '@nestjs/common';
import { DemoModule } from '../modules/demo/demo.module.js';
import { PagesModule } from '../pages/pages.module.js';
import { LandingController } from './landing.controller.js';

/** The pages for developers. */
@Module({ imports: [PagesModule, DemoModule], controllers: [LandingController] })
export class DocsModule {}
