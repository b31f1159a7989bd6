import { AUTHENTICATION, BODIES, DOCUMENTS, FIELDS, LISTS, QUOTA, TRANSPORT } from './api-rules.js';
import {
  AUTHORIZATION_REQUEST,
  BEARER,
  BROWSERS_AND_TYPING,
  CLIENT_AUTHENTICATION,
  CODE_EXCHANGE,
  CONSENT,
  METADATA_AND_BROWSER_APPS,
  ONE_TIME_PASSWORDS,
  PKCE_REQUEST,
  REFRESH,
  REVOCATION_AND_INTROSPECTION,
  STORAGE_AND_OPERATION,
  THROTTLING,
  TOKEN_REQUEST,
} from './oauth-rules.js';
import type { Topic } from './topic.js';

/**
 * Every numbered rule of the platform, by topic and in the order of their numbers: `O` of the authorization server, `C` of
 * the developer API. Tests carry the numbers of the rules that they prove in front of their titles.
 */
export const ASSERTIONS: readonly Topic[] = [
  AUTHORIZATION_REQUEST,
  PKCE_REQUEST,
  CONSENT,
  ONE_TIME_PASSWORDS,
  TOKEN_REQUEST,
  CODE_EXCHANGE,
  CLIENT_AUTHENTICATION,
  REFRESH,
  REVOCATION_AND_INTROSPECTION,
  BEARER,
  METADATA_AND_BROWSER_APPS,
  THROTTLING,
  STORAGE_AND_OPERATION,
  BROWSERS_AND_TYPING,
  TRANSPORT,
  AUTHENTICATION,
  BODIES,
  FIELDS,
  LISTS,
  QUOTA,
  DOCUMENTS,
];
