import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { CommentsModule } from '../comments/comments.module.js';
import { DemoModule } from '../demo/demo.module.js';
import { OAuthModule } from '../oauth/oauth.module.js';
import { PostsModule } from '../posts/posts.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { UsersModule } from '../users/users.module.js';
import { AppReset } from './app-reset.js';
import { Doctor } from './doctor/doctor.service.js';
import { ImportedUsersRepository } from './import/imported-users.repository.js';
import { UserImport } from './import/user-import.service.js';
import { PersonalData } from './personal-data.js';
import { Retention } from './retention.js';
import { RequestTraces } from './request-traces.service.js';
import { ScheduledJobs } from './scheduled-jobs.service.js';
import { AuditedMigrator } from './audited-migrator.service.js';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    UsersModule,
    OAuthModule,
    QuotaModule,
    PostsModule,
    CommentsModule,
    WebhooksModule,
    DemoModule,
  ],
  providers: [
    AuditedMigrator,
    Retention,
    ScheduledJobs,
    Doctor,
    ImportedUsersRepository,
    UserImport,
    PersonalData,
    AppReset,
    RequestTraces,
  ],
})
export class OperationsModule {}
