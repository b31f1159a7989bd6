import { Module, type MiddlewareConsumer, type NestModule, type Type } from '@nestjs/common';
import { PagesModule } from '../../pages/pages.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccountFormsController } from './account/account-forms.controller.js';
import { AccountSessions } from './account/account-sessions.service.js';
import {
  ConnectedAppsController,
  redirectUndecodablePath,
} from './account/connected-apps.controller.js';
import { ConnectedAppsService } from './account/connected-apps.service.js';
import { AppSecretsRepository } from './clients/app-secrets.repository.js';
import { AppSecretsService } from './clients/app-secrets.service.js';
import { AppsRepository } from './clients/apps.repository.js';
import { AppsService } from './clients/apps.service.js';
import { ClientAuthenticator } from './clients/client-authenticator.js';
import { AuthorizationsRepository } from './authorize/authorizations.repository.js';
import { AuthorizationsService } from './authorize/authorizations.service.js';
import { AuthorizeController } from './authorize/authorize.controller.js';
import { ConsentController } from './authorize/consent.controller.js';
import { ConsentService } from './authorize/consent.service.js';
import { GrantOpener, GrantRevocation } from './tokens/grants.service.js';
import { GrantUse } from './tokens/grant-use.js';
import { GrantsPersonalData } from './tokens/grants.data-subject.js';
import { GrantsRepository } from './tokens/grants.repository.js';
import { UserAccess } from './user-access.service.js';
import { OAuthPages } from './browser/oauth-pages.js';
import { SignInPersonalData } from './oauth.data-subject.js';
import { OAuthPruneService } from './oauth-retention.js';
import { SignInRepository } from './sign-in/sign-in.repository.js';
import { OtpLimits } from './sign-in/otp-limits.js';
import { OtpDelivery } from './sign-in/otp-delivery.js';
import { OtpService } from './sign-in/otp.service.js';
import { PhoneLock } from './sign-in/phone-lock.js';
import { SignInSteps } from './sign-in/sign-in-flow.js';
import { SignInController } from './authorize/sign-in.controller.js';
import { SignInService } from './sign-in/sign-in.service.js';
import { SmsQueue } from './sign-in/sms/sms-queue.js';
import { RateLimitModule } from './rate-limit/rate-limit.module.js';
import { AuthorizationCodeGrant } from './tokens/authorization-code.grant.js';
import { AuthorizationCodesRepository } from './tokens/authorization-codes.repository.js';
import { IntrospectionController } from './tokens/introspection.controller.js';
import { IntrospectionRepository } from './tokens/introspection.repository.js';
import { RevocationController } from './tokens/revocation.controller.js';
import { TokenIntrospection } from './tokens/token-introspection.js';
import { TokenRevocation } from './tokens/token-revocation.js';
import { BrowserOrigins, PreflightController } from './clients/browser-origins.js';
import { BrowserOriginsRepository } from './clients/browser-origins.repository.js';
import { ExposedSecrets } from './clients/exposed-secrets.js';
import { MetadataController } from './metadata.controller.js';
import { RefreshTokenGrant } from './tokens/refresh-token.grant.js';
import { StoredAccessTokenVerifier } from './tokens/access-token-verifier.js';
import { TokenIssuer } from './tokens/token-issuer.js';
import { TokenController } from './tokens/token.controller.js';
import { TokensRepository } from './tokens/tokens.repository.js';
import { UnknownEndpointController } from './unknown-endpoint.controller.js';

const repositories: Type[] = [
  AppsRepository,
  AppSecretsRepository,
  AuthorizationsRepository,
  GrantsRepository,
  SignInRepository,
  AuthorizationCodesRepository,
  TokensRepository,
  IntrospectionRepository,
  BrowserOriginsRepository,
];

@Module({
  imports: [UsersModule, QuotaModule, PagesModule, RateLimitModule],
  controllers: [
    TokenController,
    AuthorizeController,
    SignInController,
    ConsentController,
    ConnectedAppsController,
    AccountFormsController,
    RevocationController,
    IntrospectionController,
    MetadataController,
    PreflightController,
    UnknownEndpointController,
  ],
  providers: [
    ...repositories,
    AppsService,
    AppSecretsService,
    ClientAuthenticator,
    AuthorizationsService,
    OAuthPages,
    OtpLimits,
    PhoneLock,
    OtpDelivery,
    OtpService,
    SmsQueue,
    SignInService,
    SignInSteps,
    AccountSessions,
    ConnectedAppsService,
    ConsentService,
    GrantOpener,
    GrantRevocation,
    GrantUse,
    UserAccess,
    GrantsPersonalData,
    SignInPersonalData,
    TokenIssuer,
    AuthorizationCodeGrant,
    RefreshTokenGrant,
    TokenRevocation,
    TokenIntrospection,
    BrowserOrigins,
    ExposedSecrets,
    StoredAccessTokenVerifier,
    OAuthPruneService,
  ],
  exports: [
    AppsService,
    GrantOpener,
    TokenIssuer,
    StoredAccessTokenVerifier,
    OAuthPruneService,
    UserAccess,
    GrantsPersonalData,
    SignInPersonalData,
  ],
})
export class OAuthModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(redirectUndecodablePath).forRoutes('account');
  }
}
