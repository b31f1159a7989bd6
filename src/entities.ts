import { AuditEvent } from './audit/audit-event.entity.js';
import { IdempotencyKey } from './idempotency/idempotency-key.entity.js';
import { Comment } from './modules/comments/comment.entity.js';
import { AppRedirectUri } from './modules/oauth/apps/app-redirect-uri.entity.js';
import { AppSecret } from './modules/oauth/apps/app-secret.entity.js';
import { App } from './modules/oauth/apps/app.entity.js';
import { Authorization } from './modules/oauth/authorize/authorization.entity.js';
import { Grant } from './modules/oauth/grants/grant.entity.js';
import { KnownBrowser } from './modules/oauth/sign-in/known-browser.entity.js';
import { OtpChallenge } from './modules/oauth/sign-in/otp-challenge.entity.js';
import { OtpFailures } from './modules/oauth/sign-in/otp-failures.entity.js';
import { SignInSession } from './modules/oauth/sign-in/sign-in-session.entity.js';
import { ThrottleHit } from './modules/oauth/throttle/throttle-hit.entity.js';
import { AccessToken } from './modules/oauth/token/access-token.entity.js';
import { AuthorizationCode } from './modules/oauth/token/authorization-code.entity.js';
import { RefreshToken } from './modules/oauth/token/refresh-token.entity.js';
import { PostLike } from './modules/posts/post-like.entity.js';
import { Post } from './modules/posts/post.entity.js';
import { ApiCall } from './modules/quota/api-call.entity.js';
import { ApiUsageDaily } from './modules/quota/api-usage-daily.entity.js';
import { AppQuota } from './modules/quota/app-quota.entity.js';
import { QuotaUsage } from './modules/quota/quota-usage.entity.js';
import { User } from './modules/users/user.entity.js';
import { JobRun } from './operations/job-run.entity.js';

/** Every table, in the order of the data model in docs/architecture.md. */
export const entities = [
  User,
  App,
  AppSecret,
  AppRedirectUri,
  Authorization,
  SignInSession,
  OtpChallenge,
  OtpFailures,
  KnownBrowser,
  Grant,
  AuthorizationCode,
  AccessToken,
  RefreshToken,
  Post,
  PostLike,
  Comment,
  AppQuota,
  QuotaUsage,
  ApiCall,
  ApiUsageDaily,
  IdempotencyKey,
  ThrottleHit,
  AuditEvent,
  JobRun,
];
