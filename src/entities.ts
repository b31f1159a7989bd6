import { AuditEvent } from './platform/audit/audit-event.entity.js';
import { IdempotencyKey } from './platform/http/idempotency/idempotency-key.entity.js';
import { Comment } from './modules/comments/comment.entity.js';
import {
  App,
  AppLogoPart,
  AppRedirectUri,
  AppSecret,
} from './modules/oauth/clients/client.entities.js';
import { Authorization } from './modules/oauth/authorize/authorization.entity.js';
import {
  AccessToken,
  AuthorizationCode,
  Grant,
  RefreshToken,
} from './modules/oauth/tokens/token.entities.js';
import {
  OtpChallenge,
  OtpCount,
  OtpFailures,
  OtpPause,
  SignInSession,
} from './modules/oauth/sign-in/sign-in.entities.js';
import { TrustedDevice, RateLimitHit } from './modules/oauth/rate-limit/rate-limit.entities.js';
import { WebhookEndpoint, WebhookEvent } from './modules/events/event.entities.js';
import { Post, PostLike } from './modules/posts/post.entities.js';
import { ApiCall, ApiUsageDaily, AppQuota, QuotaUsage } from './modules/quota/quota.entities.js';
import { User } from './modules/users/user.entity.js';
import { JobRun } from './platform/lifecycle/job-run.entity.js';

/** The entities of all tables. The data model in docs/architecture.md says what one row of each table is. */
export const entities = [
  User,
  App,
  AppSecret,
  AppRedirectUri,
  AppLogoPart,
  Authorization,
  SignInSession,
  OtpChallenge,
  OtpCount,
  OtpFailures,
  OtpPause,
  TrustedDevice,
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
  WebhookEndpoint,
  WebhookEvent,
  IdempotencyKey,
  RateLimitHit,
  AuditEvent,
  JobRun,
];
