import {
  AUTHORIZATION_REQUEST,
  CONSENT,
  ONE_TIME_PASSWORDS,
  PKCE_REQUEST,
} from './authorization-rules.js';
import {
  BEARER,
  CLIENT_AUTHENTICATION,
  CODE_EXCHANGE,
  REFRESH,
  REVOCATION_AND_INTROSPECTION,
  TOKEN_REQUEST,
} from './token-rules.js';
import {
  BROWSERS_AND_TYPING,
  METADATA_AND_BROWSER_APPS,
  STORAGE_AND_OPERATION,
  THROTTLING,
} from './server-rules.js';
import { AUTHENTICATION, BODIES, TRANSPORT } from './request-rules.js';
import { ABUSE, DOCUMENTS, FIELDS, LISTS, QUOTA } from './resource-rules.js';
import type { Topic } from './topic.js';

/**
 * The rules by topic, in numerical order: `O` for the authorization server, `C` for the developer API. The title of a test starts
 * with the numbers of the rules that it proves.
 */
export const TOPICS: readonly Topic[] = [
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
  ABUSE,
];
