import { Module } from '@nestjs/common';
import { IdempotencyModule } from '../../platform/http/idempotency/idempotency.module.js';
import { PagesModule } from '../../pages/pages.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { UsersModule } from '../users/users.module.js';
import { PostPageController } from './public-post.controller.js';
import { PostRestorationRepository } from './post-restoration.repository.js';
import { PostRestoration } from './post-restoration.service.js';
import { PostsController } from './posts.controller.js';
import { PostsPersonalData } from './posts.data-subject.js';
import { PostsRepository } from './posts.repository.js';
import { PostsService } from './posts.service.js';
import { Publisher } from './publisher.service.js';
import { DeletedPostsRepository } from './deleted-posts.repository.js';
import { PostsPrune } from './posts-retention.js';
import { PublicPostsRepository } from './public-posts.repository.js';
import { PublicPostsService } from './public-posts.service.js';

@Module({
  imports: [UsersModule, QuotaModule, IdempotencyModule, PagesModule],
  controllers: [PostsController, PostPageController],
  providers: [
    PostsRepository,
    PostsService,
    Publisher,
    PublicPostsRepository,
    PublicPostsService,
    DeletedPostsRepository,
    PostsPrune,
    PostRestorationRepository,
    PostRestoration,
    PostsPersonalData,
  ],
  exports: [PostsService, Publisher, PostsPrune, PostRestoration, PostsPersonalData],
})
export class PostsModule {}
