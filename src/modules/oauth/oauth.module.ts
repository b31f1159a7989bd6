import { Module, type Type } from '@nestjs/common';
import { PagesModule } from '../../pages/pages.module.js';
import { QuotaModule } from '../quota/quota.module.js';
import { UsersModule } from '../users/users.module.js';
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
import { GrantsRepository } from './grants/grants.repository.js';
import { OAuthPages } from './oauth-pages.js';
import { OtpChallengesRepository } from './sign-in/otp-challenges.repository.js';
import { OtpService } from './sign-in/otp.service.js';
import { SignInSessionsRepository } from './sign-in/sign-in-sessions.repository.js';
import { SignInController } from './sign-in/sign-in.controller.js';
import { SignInService } from './sign-in/sign-in.service.js';
import { SmsQueue } from './sign-in/sms-queue.js';
import { OAuthThrottlerModule, ThrottleStorageModule } from './throttle/throttle.module.js';
import { AuthorizationCodeGrant } from './token/authorization-code.grant.js';
import { AuthorizationCodesRepository } from './token/authorization-codes.repository.js';
import { RefreshTokenGrant } from './token/refresh-token.grant.js';
import { StoredAccessTokenVerifier } from './token/stored-access-token-verifier.js';
import { TokenIssuer } from './token/token-issuer.js';
import { TokenController } from './token/token.controller.js';
import { TokensRepository } from './token/tokens.repository.js';
import { UnknownEndpointController } from './unknown-endpoint.controller.js';

const repositories: Type[] = [
  AppsRepository,
  AuthorizationsRepository,
  GrantsRepository,
  OtpChallengesRepository,
  SignInSessionsRepository,
  AuthorizationCodesRepository,
  TokensRepository,
];

@Module({
  imports: [UsersModule, QuotaModule, PagesModule, ThrottleStorageModule, OAuthThrottlerModule],
  controllers: [
    AuthorizeController,
    SignInController,
    ConsentController,
    TokenController,
    UnknownEndpointController,
  ],
  providers: [
    ...repositories,
    AppsService,
    ClientAuthenticator,
    AuthorizationsService,
    OAuthPages,
    OtpService,
    SmsQueue,
    SignInService,
    ConsentService,
    GrantOpener,
    GrantRevocation,
    TokenIssuer,
    AuthorizationCodeGrant,
    RefreshTokenGrant,
    StoredAccessTokenVerifier,
  ],
  exports: [AppsService, GrantOpener, TokenIssuer, StoredAccessTokenVerifier],
})
export class OAuthModule {}
