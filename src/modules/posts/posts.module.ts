import { Module } from '@nestjs/common';
import { PagesModule } from '../../pages/pages.module.js';
import { EventsModule } from '../events/events.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { UsersModule } from '../users/users.module.js';
import { PostModeration } from './post-moderation.service.js';
import { PublicPostController } from './public-post.controller.js';
import { PostsController } from './posts.controller.js';
import { PostsRepository } from './posts.repository.js';
import { PostsService } from './posts.service.js';

@Module({
  imports: [UsersModule, QuotaModule, EventsModule, PagesModule],
  controllers: [PostsController, PublicPostController],
  providers: [PostsRepository, PostsService, PostModeration],
  exports: [PostsService],
})
export class PostsModule {}
