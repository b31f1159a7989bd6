import { z } from 'zod';
import { count, flag, seconds } from './values.js';

/** Rules, lifetimes and budgets of the authorization server. */
export const oauth = {
  OAUTH_ERRORS_BEFORE_SIGN_IN: z
    .enum(['redirect', 'page'])
    .default('redirect')
    .describe(
      'How a wrong authorization request is answered while nobody is signed in: redirect tells the app at once, page lets the visitor choose.',
    ),
  OAUTH_REFUSE_REUSED_CHALLENGE: flag
    .default(false)
    .describe(
      '1 refuses a code_challenge that already led to a code; by default it is only written to the audit log.',
    ),
  OAUTH_CODE_SECONDS: seconds.default(300).describe('Lifetime of an authorization code.'),
  OAUTH_ACCESS_TOKEN_SECONDS: seconds.default(3600).describe('Lifetime of an access token.'),
  OAUTH_REFRESH_IDLE_SECONDS: seconds
    .default(2_592_000)
    .describe('How long an unused refresh token lives.'),
  OAUTH_GRANT_SECONDS: seconds
    .default(15_552_000)
    .describe('How long a grant lives, however often it is refreshed.'),
  OAUTH_TRANSACTION_SECONDS: seconds
    .default(900)
    .describe('How long a user may take from the sign-in page to the decision.'),
  OAUTH_SESSION_SECONDS: seconds
    .default(1800)
    .describe('How long a sign-in session lives after its last use.'),
  OAUTH_WINDOW_SECONDS: seconds
    .default(900)
    .describe('The rolling window of the OAuth budgets below.'),
  OAUTH_TOKEN_FAILURES: count
    .default(20)
    .describe(
      'Failed token calls per app and address. Revocation and introspection have budgets of their own, of this size and the next two. 0 switches a budget off, here and below.',
    ),
  OAUTH_TOKEN_ADDRESS_FAILURES: count.default(100).describe('Failed token calls per address.'),
  OAUTH_TOKEN_CALLS: count
    .default(7500)
    .describe('Token calls per confidential app, and per app and address for public ones.'),
  OAUTH_AUTHORIZE_CALLS: count.default(600).describe('Authorization requests per address.'),
  OAUTH_DECISION_FAILURES: count.default(20).describe('Failed sign-ins and decisions per browser.'),
  OAUTH_DECISION_ADDRESS_FAILURES: count
    .default(60)
    .describe('Failed sign-ins and decisions per address.'),
  OAUTH_DECISION_CALLS: count.default(60).describe('Sign-in steps and decisions per browser.'),
  OAUTH_DECISION_ADDRESS_CALLS: count
    .default(1800)
    .describe('Sign-in steps and decisions per address.'),
};
