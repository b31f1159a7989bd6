/** Descriptions of all scopes for developers, in canonical order: that of the product requirements (section 5). */
export const SCOPE_DESCRIPTIONS = {
  'profile.read': 'Name, photo, karma and neighbourhood',
  'posts.read': "Read the user's own posts and their comments",
  'posts.write': 'Publish and delete posts; post and delete comments',
  'analytics.read': 'Counts of likes and comments per post',
};

export type Scope = keyof typeof SCOPE_DESCRIPTIONS;

export const SCOPES = Object.keys(SCOPE_DESCRIPTIONS) as readonly Scope[];

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
