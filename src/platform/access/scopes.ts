/** Descriptions of all scopes for developers, in canonical order: that of the product requirements (section 5). */
export const SCOPE_DESCRIPTIONS = {
  'profile.read': 'Name, photo, karma and neighbourhood',
  'posts.read': "Read the user's own posts and their comments",
  'posts.write': 'Publish and delete posts; post and delete comments',
  'analytics.read': 'Counts of likes and comments per post',
};

export type Scope = keyof typeof SCOPE_DESCRIPTIONS;

export const SCOPES = Object.keys(SCOPE_DESCRIPTIONS) as readonly Scope[];

/**
 * The scope with which OpenID Connect requests a refresh token (Core §11). Every app gets one without it, so the server ignores it
 * (RFC 6749 §3.3), and never grants or registers it.
 */
export const OFFLINE_ACCESS = 'offline_access';

export function isScope(value: string): value is Scope {
  return (SCOPES as readonly string[]).includes(value);
}

/** The distinct values of a space-separated `scope` parameter (RFC 6749 §3.3), including unknown ones, without `OFFLINE_ACCESS`. */
export function splitScope(scope: string): string[] {
  return [...new Set(scope.split(' ').filter((value) => value !== '' && value !== OFFLINE_ACCESS))];
}

/** Whether a `scope` parameter has `OFFLINE_ACCESS` and nothing else. */
export function isOnlyOfflineAccess(scope: string): boolean {
  return splitScope(scope).length === 0 && scope.includes(OFFLINE_ACCESS);
}

/** The known scopes among `values`, without duplicates, in canonical order. */
export function canonicalScopes(values: Iterable<string>): Scope[] {
  const wanted = new Set(values);
  return SCOPES.filter((scope) => wanted.has(scope));
}

/** The `scope` of a token response or a stored grant. */
export function formatScope(scopes: readonly Scope[]): string {
  return canonicalScopes(scopes).join(' ');
}

/** The scopes that all of these lists contain, in canonical order. */
export function commonScopes(lists: readonly (readonly Scope[])[]): Scope[] {
  return SCOPES.filter((scope) => lists.every((list) => list.includes(scope)));
}

/** Parses a stored list of scopes. Drops unknown ones. */
export function parseScope(scope: string): Scope[] {
  return canonicalScopes(scope.split(' '));
}

/** Lists of scopes as they are stored. */
export interface ScopesOfCredential {
  /** Of the credential or grant, as it was issued. */
  scope: string;
  /** Those of the grant that the user did not allow in a later decision. */
  withdrawnScope: string | null;
  /** Those for which the app is registered. */
  appScope: string;
}

/** The issued scopes that the user did not withdraw and for which the app is still registered. */
export function scopesThatCount({ scope, withdrawnScope, appScope }: ScopesOfCredential): Scope[] {
  return commonScopes([remainingScopes({ scope, withdrawnScope }), parseScope(appScope)]);
}

/** The granted scopes that the user did not withdraw. */
export function remainingScopes({
  scope,
  withdrawnScope,
}: Pick<ScopesOfCredential, 'scope' | 'withdrawnScope'>): Scope[] {
  const withdrawn = parseScope(withdrawnScope ?? '');
  return parseScope(scope).filter((each) => !withdrawn.includes(each));
}
