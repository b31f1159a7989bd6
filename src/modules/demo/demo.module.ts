import { Module } from '@nestjs/common';
import { CommentsModule } from '../comments/comments.module.js';
import { OAuthModule } from '../oauth/oauth.module.js';
import { PostsModule } from '../posts/posts.module.js';
import { UsersModule } from '../users/users.module.js';
import { DemoToken } from './demo-token.service.js';
import { DemoService } from './demo.service.js';

@Module({
  imports: [UsersModule, OAuthModule, PostsModule, CommentsModule],
  providers: [DemoService, DemoToken],
  exports: [DemoService],
})
export class DemoModule {}
