import { Module } from '@nestjs/common';
import { IdempotencyModule } from '../../platform/http/idempotency/idempotency.module.js';
import { PagesModule } from '../../pages/pages.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { UsersModule } from '../users/users.module.js';
import { PostPageController } from './public-post.controller.js';
import { PostRestoration } from './post-restoration.service.js';
import { PostsController } from './posts.controller.js';
import { PostsPersonalData } from './posts.data-subject.js';
import { PostsRepository } from './posts.repository.js';
import { PostsService } from './posts.service.js';
import { Publisher } from './publisher.service.js';

@Module({
  imports: [UsersModule, QuotaModule, IdempotencyModule, PagesModule],
  controllers: [PostsController, PostPageController],
  providers: [PostsRepository, PostsService, Publisher, PostRestoration, PostsPersonalData],
  exports: [PostsService, Publisher, PostRestoration, PostsPersonalData],
})
export class PostsModule {}
