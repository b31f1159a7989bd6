/** Every scope, in the order of the source document's table (section 5), which is that of responses. */
export const SCOPES = ['profile.read', 'posts.read', 'posts.write', 'analytics.read'] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(value: string): value is Scope {
  return (SCOPES as readonly string[]).includes(value);
}

/**
 * The values of a space-separated `scope` parameter, duplicates collapsed (RFC 6749 §3.3).
 * Values are as sent: whether each is a known scope is the caller's question.
 */
export function splitScope(scope: string): string[] {
  return [...new Set(scope.split(' ').filter((value) => value !== ''))];
}

/** The scopes of `values` that exist, once each, in canonical order. */
export function canonicalScopes(values: Iterable<string>): Scope[] {
  const wanted = new Set(values);
  return SCOPES.filter((scope) => wanted.has(scope));
}

/** The `scope` string of a token response or of a stored grant. */
export function formatScope(scopes: readonly Scope[]): string {
  return canonicalScopes(scopes).join(' ');
}

/** The reverse of `formatScope`, for stored values. */
export function parseScope(scope: string): Scope[] {
  return canonicalScopes(scope.split(' '));
}
