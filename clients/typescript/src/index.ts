export {
  startAuthorization,
  finishAuthorization,
  type AuthorizationOptions,
  type PendingAuthorization,
} from './authorization.js';
export {
  createClient,
  type ApiCallOptions,
  type Client,
  type List,
  type OperationId,
  type Params,
  type Result,
} from './client.js';
export {
  ApiError,
  AuthorizationRequiredError,
  CallbackError,
  ClientError,
  NoResponseError,
  OAuthError,
  WebhookError,
} from './errors.js';
export type {
  Analytics,
  Author,
  Comment,
  CommentCreatedEvent,
  CommentDeletedEvent,
  CommentPage,
  CreateComment,
  CreatedPost,
  CreatePost,
  Deleted,
  ErrorCode,
  FieldError,
  GrantNarrowedEvent,
  GrantRevokedEvent,
  Post,
  PostDeletedEvent,
  PostItem,
  PostPage,
  Quota,
  QuotaThresholdEvent,
  User,
  WebhookEvent,
  WebhookTestEvent,
} from './operations.js';
export type { CallOptions, Settings } from './settings.js';
export { disconnect, memoryStore, revokeToken, type Tokens, type TokenStore } from './tokens.js';
export { allowAsTestMember, type TestMember } from './testing.js';
export { verifyWebhook, type WebhookHeaders } from './webhooks.js';
