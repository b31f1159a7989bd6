import { Module } from '@nestjs/common';
import { PostsModule } from '../posts/posts.module.js';
import { AnalyticsController } from './analytics.controller.js';

@Module({ imports: [PostsModule], controllers: [AnalyticsController] })
export class AnalyticsModule {}
