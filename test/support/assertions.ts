import { AUTHORIZATION_REQUEST, PKCE_REQUEST } from './assertions/authorize.js';
import { BODIES, FIELDS } from './assertions/bodies.js';
import { DOCUMENTS } from './assertions/documents.js';
import { LISTS, QUOTA } from './assertions/lists-and-quota.js';
import { BROWSERS_AND_TYPING, STORAGE_AND_OPERATION, THROTTLING } from './assertions/operation.js';
import { AUTHENTICATION, TRANSPORT } from './assertions/requests.js';
import { CONSENT, ONE_TIME_PASSWORDS } from './assertions/sign-in.js';
import {
  BEARER,
  METADATA_AND_BROWSER_APPS,
  REVOCATION_AND_INTROSPECTION,
} from './assertions/token-use.js';
import {
  CLIENT_AUTHENTICATION,
  CODE_EXCHANGE,
  REFRESH,
  TOKEN_REQUEST,
} from './assertions/tokens.js';
import type { Topic } from './assertions/topic.js';

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
