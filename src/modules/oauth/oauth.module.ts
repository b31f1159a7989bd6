import { Module, type MiddlewareConsumer, type NestModule, type Type } from '@nestjs/common';
import { PagesModule } from '../../pages/pages.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccountFormsController } from './account/account-forms.controller.js';
import { AccountSignInController } from './account/account-sign-in.controller.js';
import { AccountSignIns } from './account/account-sign-ins.js';
import { ConnectedAppsController } from './account/connected-apps.controller.js';
import { ConnectedAppsService } from './account/connected-apps.service.js';
import { FormTokens } from './account/form-tokens.js';
import { Memberships } from './account/memberships.js';
import { UnreadablePathMiddleware } from './account/unreadable-path.middleware.js';
import { AppSecretsRepository } from './apps/app-secrets.repository.js';
import { AppSecretsService } from './apps/app-secrets.service.js';
import { AppsRepository } from './apps/apps.repository.js';
import { AppsService } from './apps/apps.service.js';
import { ClientAuthenticator } from './apps/client-authenticator.js';
import { AuthorizationsRepository } from './authorize/authorizations.repository.js';
import { AuthorizationsService } from './authorize/authorizations.service.js';
import { AuthorizeController } from './authorize/authorize.controller.js';
import { ConsentController } from './consent/consent.controller.js';
import { ConsentService } from './consent/consent.service.js';
import { GrantOpener } from './grants/grant-opener.js';
import { GrantRevocation } from './grants/grant-revocation.js';
import { GrantUse } from './grants/grant-use.js';
import { GrantsPersonalData } from './grants/grants.personal-data.js';
import { GrantsRepository } from './grants/grants.repository.js';
import { UserAccess } from './grants/user-access.service.js';
import { ReusedChallenge } from './authorize/reused-challenge.js';
import { OAuthPages } from './oauth-pages.js';
import { ExpiredOAuthRowsRepository } from './prune/expired-oauth-rows.repository.js';
import { OAuthPruneService } from './prune/oauth-prune.service.js';
import { KnownBrowsersRepository } from './sign-in/known-browsers.repository.js';
import { OtpBudgets } from './sign-in/otp-budgets.js';
import { OtpChallengesRepository } from './sign-in/otp-challenges.repository.js';
import { OtpDelivery } from './sign-in/otp-delivery.js';
import { OtpFailuresRepository } from './sign-in/otp-failures.repository.js';
import { OtpService } from './sign-in/otp.service.js';
import { PhoneLock } from './sign-in/phone-lock.js';
import { SignInPersonalData } from './sign-in/sign-in.personal-data.js';
import { SignInSessionsRepository } from './sign-in/sign-in-sessions.repository.js';
import { SignInSteps } from './sign-in/sign-in-steps.js';
import { SignInController } from './sign-in/sign-in.controller.js';
import { SignInService } from './sign-in/sign-in.service.js';
import { SmsQueue } from './sign-in/sms-queue.js';
import { OAuthThrottlerModule, ThrottleStorageModule } from './throttle/throttle.module.js';
import { AuthorizationCodeGrant } from './token/authorization-code.grant.js';
import { AuthorizationCodesRepository } from './token/authorization-codes.repository.js';
import { IntrospectionController } from './token/introspection.controller.js';
import { IntrospectionRepository } from './token/introspection.repository.js';
import { RevocationController } from './token/revocation.controller.js';
import { TokenIntrospection } from './token/token-introspection.js';
import { TokenRevocation } from './token/token-revocation.js';
import { BrowserOrigins } from './client-request/browser-origins.js';
import { BrowserOriginsRepository } from './client-request/browser-origins.repository.js';
import { ExposedSecrets } from './client-request/exposed-secrets.js';
import { PreflightController } from './client-request/preflight.controller.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { RefreshTokenGrant } from './token/refresh-token.grant.js';
import { StoredAccessTokenVerifier } from './token/stored-access-token-verifier.js';
import { TokenIssuer } from './token/token-issuer.js';
import { TokenController } from './token/token.controller.js';
import { TokensRepository } from './token/tokens.repository.js';
import { UnheardAnswers } from './token/unheard-answers.js';
import { UnknownEndpointController } from './unknown-endpoint.controller.js';

const repositories: Type[] = [
  AppsRepository,
  AppSecretsRepository,
  AuthorizationsRepository,
  GrantsRepository,
  OtpChallengesRepository,
  OtpFailuresRepository,
  KnownBrowsersRepository,
  SignInSessionsRepository,
  AuthorizationCodesRepository,
  TokensRepository,
  IntrospectionRepository,
  BrowserOriginsRepository,
  ExpiredOAuthRowsRepository,
];

@Module({
  imports: [UsersModule, QuotaModule, PagesModule, ThrottleStorageModule, OAuthThrottlerModule],
  controllers: [
    TokenController,
    AuthorizeController,
    SignInController,
    ConsentController,
    ConnectedAppsController,
    AccountSignInController,
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
    ReusedChallenge,
    OAuthPages,
    OtpBudgets,
    PhoneLock,
    OtpDelivery,
    OtpService,
    SmsQueue,
    SignInService,
    SignInSteps,
    FormTokens,
    AccountSignIns,
    Memberships,
    ConnectedAppsService,
    ConsentService,
    GrantOpener,
    GrantRevocation,
    GrantUse,
    UserAccess,
    GrantsPersonalData,
    SignInPersonalData,
    TokenIssuer,
    UnheardAnswers,
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
    consumer.apply(UnreadablePathMiddleware).forRoutes('account');
  }
}
