import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthGuard } from './auth.guard.js';
import { AuthService } from './auth.service.js';
import { AccessToken } from './entities/access-token.entity.js';
import { AppQuota } from './entities/app-quota.entity.js';
import { App } from './entities/app.entity.js';
import { Grant } from './entities/grant.entity.js';
import { GrantUseService } from './grant-use.service.js';
import { ScopesGuard } from './scopes.guard.js';

@Module({
  imports: [TypeOrmModule.forFeature([AccessToken, Grant, App, AppQuota])],
  providers: [
    AuthService,
    GrantUseService,
    { provide: APP_GUARD, useClass: AuthGuard },
    { provide: APP_GUARD, useClass: ScopesGuard },
  ],
})
export class AuthModule {}
