import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from './auth/auth.module.js';
import { CallsModule } from './calls/calls.module.js';
import { CommentsModule } from './comments/comments.module.js';
import { PostsModule } from './posts/posts.module.js';
import { settings } from './settings.js';
import { UsersModule } from './users/users.module.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'mysql',
      url: settings.databaseUrl,
      poolSize: settings.poolSize,
      charset: 'utf8mb4',
      timezone: 'Z',
      autoLoadEntities: true,
      synchronize: false,
    }),
    ScheduleModule.forRoot(),
    AuthModule,
    CallsModule,
    UsersModule,
    PostsModule,
    CommentsModule,
  ],
})
export class AppModule {}
