import { createHash } from 'node:crypto';

/** Users and as many grants, each with an access token. */
export const USERS = 1000;

/** The public client that everything happens for, its redirect URI, scopes, and the PKCE pair of all its requests. */
export const CLIENT_ID = 'svc_app_01kb0000000000000000000000';
/**
 * The public clients of the service whose codes and refresh tokens are used. Its limit of 7,500 calls for each app and address
 * stays at its default, so the calls of a run are spread over as many apps as a real one would need.
 */
export const TOKEN_CLIENT_IDS = Array.from(
  { length: 64 },
  (_, number) => `svc_app_01kb${String(number + 1).padStart(22, '0')}`,
);
export const REDIRECT_URI = 'https://bench.example/callback';
export const SCOPES = 'profile.read posts.read posts.write analytics.read';
export const CODE_VERIFIER = 'bench-'.repeat(8);
export const CODE_CHALLENGE = createHash('sha256').update(CODE_VERIFIER).digest('base64url');

/** Credentials by number, in the form that the service gives them; nothing but the number is needed to know them. */
export const accessToken = (user: number): string => `svcat_${secret('access', user)}`;
export const authorizationCode = (number: number): string => `svcac_${secret('code', number)}`;
export const refreshToken = (number: number): string => `svcrt_${secret('refresh', number)}`;

function secret(kind: string, number: number): string {
  return createHash('sha256').update(`${kind} ${number}`).digest('base64url');
}

/** How the service and the peers that share its tables store credentials. */
export function stored(credential: string): string {
  return createHash('sha256').update(credential).digest('hex');
}
