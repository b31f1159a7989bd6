import { commonScopes, parseScope, type Scope } from '../../../platform/access/scopes.js';

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
