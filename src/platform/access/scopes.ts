/** All scopes, in canonical order: that of the product requirements (section 5). */
export const SCOPES = ['profile.read', 'posts.read', 'posts.write', 'analytics.read'] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(value: string): value is Scope {
  return (SCOPES as readonly string[]).includes(value);
}

/** The distinct values of a space-separated `scope` parameter (RFC 6749 §3.3), including unknown ones. */
export function splitScope(scope: string): string[] {
  return [...new Set(scope.split(' ').filter((value) => value !== ''))];
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
