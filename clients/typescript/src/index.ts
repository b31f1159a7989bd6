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
} from './errors.js';
export type {
  Analytics,
  Author,
  Comment,
  CommentPage,
  CreateComment,
  CreatedPost,
  CreatePost,
  Deleted,
  ErrorCode,
  FieldError,
  Post,
  PostItem,
  PostPage,
  Quota,
  User,
} from './operations.js';
export type { CallOptions, Settings } from './settings.js';
export { disconnect, memoryStore, revokeToken, type Tokens, type TokenStore } from './tokens.js';
export { allowAsTestMember, type TestMember } from './testing.js';
