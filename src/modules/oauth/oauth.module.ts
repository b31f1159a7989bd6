import { Module, type MiddlewareConsumer, type NestModule, type Type } from '@nestjs/common';
import { PagesModule } from '../../pages/pages.module.js';
import { CallLimitStorage } from '../../platform/http/call-limit-storage.js';
import { EventsModule } from '../events/events.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccountSessions } from './account/account-sessions.service.js';
import {
  ConnectedAppsController,
  redirectUndecodablePath,
} from './account/connected-apps.controller.js';
import { AppLogosController } from './clients/app-logos.controller.js';
import { AppSecretsService } from './clients/app-secrets.service.js';
import { AppsRepository } from './clients/apps.repository.js';
import { AppsService } from './clients/apps.service.js';
import { AuthorizationsRepository } from './authorize/authorizations.repository.js';
import { AuthorizationsService } from './authorize/authorizations.service.js';
import { AuthorizeController } from './authorize/authorize.controller.js';
import { ConsentController } from './authorize/consent.controller.js';
import { ConsentPage, ConsentService } from './authorize/consent.service.js';
import { ForeignCredentials } from './tokens/foreign-credentials.js';
import { GrantsService } from './tokens/grants.service.js';
import { GrantUsageRecorder } from './tokens/grant-usage-recorder.js';
import { GrantReader } from './tokens/grant-reader.repository.js';
import { GrantsRepository } from './tokens/grants.repository.js';
import { UserAccess } from './account/user-access.service.js';
import { SignInRepository } from './sign-in/sign-in.repository.js';
import { OtpDelivery } from './sign-in/otp-delivery.js';
import { OtpOperations } from './sign-in/otp-operations.service.js';
import { OtpService } from './sign-in/otp.service.js';
import { PhoneLimits } from './sign-in/phone-limits.js';
import { SignInFlowService } from './sign-in/sign-in-flow.js';
import { SignInService } from './sign-in/sign-in.service.js';
import { UserSessions } from './sign-in/user-sessions.service.js';
import { SmsQueue } from './sign-in/sms/sms-queue.js';
import { RefreshLimit } from './rate-limit/call-limits.js';
import { RequestLimits } from './rate-limit/request-limits.js';
import {
  RateLimitRepository,
  TrustedDevicesRepository,
} from './rate-limit/rate-limit.repository.js';
import { RateLimiter } from './rate-limit/rate-limiter.js';
import { BrowserBinding } from './protocol/browser-binding.js';
import { PageStates } from './browser/page-state.js';
import { AuthorizationCodeGrant } from './tokens/authorization-code.grant.js';
import {
  IntrospectionController,
  RevocationController,
} from './tokens/introspection-revocation.controller.js';
import { TokensService } from './tokens/tokens.service.js';
import { PreflightController } from './clients/preflight.controller.js';
import { MetadataController } from './metadata.controller.js';
import { RefreshTokenGrant } from './tokens/refresh-token.grant.js';
import { TokenIssuer } from './tokens/token-issuer.js';
import { TokenController } from './tokens/token.controller.js';
import { TokensRepository } from './tokens/tokens.repository.js';
import { SignInController } from './sign-in.controller.js';
import { UnknownEndpointController } from './unknown-endpoint.controller.js';

const repositories: Type[] = [
  AppsRepository,
  AuthorizationsRepository,
  GrantReader,
  GrantsRepository,
  SignInRepository,
  TokensRepository,
  RateLimitRepository,
  TrustedDevicesRepository,
];

@Module({
  imports: [UsersModule, QuotaModule, EventsModule, PagesModule],
  controllers: [
    TokenController,
    SignInController,
    ConsentController,
    AuthorizeController,
    ConnectedAppsController,
    RevocationController,
    IntrospectionController,
    MetadataController,
    PreflightController,
    AppLogosController,
    UnknownEndpointController,
  ],
  providers: [
    ...repositories,
    BrowserBinding,
    PageStates,
    RateLimiter,
    RequestLimits,
    // Its own, so that calls from many addresses cannot evict the counts of the developer API.
    CallLimitStorage,
    RefreshLimit,
    AppsService,
    AppSecretsService,
    AuthorizationsService,
    PhoneLimits,
    OtpDelivery,
    OtpService,
    SmsQueue,
    SignInService,
    SignInFlowService,
    UserSessions,
    OtpOperations,
    AccountSessions,
    ConsentPage,
    ConsentService,
    GrantsService,
    ForeignCredentials,
    GrantUsageRecorder,
    UserAccess,
    TokenIssuer,
    AuthorizationCodeGrant,
    RefreshTokenGrant,
    TokensService,
  ],
  exports: [AppsService, GrantsService, OtpOperations, TokenIssuer, TokensService, UserAccess],
})
export class OAuthModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(redirectUndecodablePath).forRoutes('account');
  }
}
