import { createHash } from 'node:crypto';

/** Number of users; each has a grant and an access token. */
export const USERS = 1000;

/** The public client of the API workloads. */
export const CLIENT_ID = 'svc_app_01kb0000000000000000000000';
/**
 * The public clients of the token workloads. There are several, because the default rate limit allows 7,500 token requests for
 * each app and address in 15 minutes. The number has no factor in common with that of the users, so that the first 63,000 grants
 * have different pairs of an app and a user, which may refresh 120 times in an hour.
 */
export const TOKEN_CLIENT_IDS = Array.from(
  { length: 63 },
  (_, number) => `svc_app_01kb${String(number + 1).padStart(22, '0')}`,
);
export const REDIRECT_URI = 'https://bench.example/callback';
export const SCOPES = 'profile.read posts.read posts.write analytics.read';
export const CODE_VERIFIER = 'bench-'.repeat(8);
export const CODE_CHALLENGE = createHash('sha256').update(CODE_VERIFIER).digest('base64url');

/** Credentials derived from a number, in the format of the service. */
export const accessToken = (user: number): string => `svcat_${secret('access', user)}`;
export const authorizationCode = (number: number): string => `svcac_${secret('code', number)}`;
export const refreshToken = (number: number): string => `svcrt_${secret('refresh', number)}`;

function secret(kind: string, number: number): string {
  return createHash('sha256').update(`${kind} ${number}`).digest('base64url');
}

/** The hash that the service and its peers store. */
export function hashCredential(credential: string): string {
  return createHash('sha256').update(credential).digest('hex');
}
