import { isDeepStrictEqual } from 'node:util';
import { In, type DataSource } from 'typeorm';
import { sha256 } from '../../../src/platform/secrets.js';
import {
  AccessToken,
  AuthorizationCode,
  Grant,
  RefreshToken,
} from '../../../src/modules/oauth/tokens/token.entities.js';
import type { State } from './token-rules.js';

/** The rows of one grant. */
export interface StoredGrant {
  grant: Grant;
  codes: AuthorizationCode[];
  access: AccessToken[];
  refresh: RefreshToken[];
}

/** The rows of these grants, in the order of `ids`. */
export async function storedGrants(
  { manager }: DataSource,
  ids: readonly string[],
): Promise<StoredGrant[]> {
  const where = { grantId: In(ids) };
  const [grants, codes, access, refresh] = await Promise.all([
    manager.findBy(Grant, { id: In(ids) }),
    manager.findBy(AuthorizationCode, where),
    manager.findBy(AccessToken, where),
    manager.findBy(RefreshToken, where),
  ]);
  const rowsOfGrant = <T extends { grantId: string }>(rows: T[], id: string): T[] =>
    rows.filter(({ grantId }) => grantId === id);
  return grants
    .toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
    .map((grant) => ({
      grant,
      codes: rowsOfGrant(codes, grant.id),
      access: rowsOfGrant(access, grant.id),
      refresh: rowsOfGrant(refresh, grant.id),
    }));
}

/** Violated invariants of the rows of a grant; an empty list when all hold. */
export function violationsIn({ grant, access, refresh }: StoredGrant): string[] {
  const unused = refresh.filter(({ consumedAt }) => consumedAt === null);
  const issuedForCode = refresh.filter(({ predecessorHash }) => predecessorHash === null);
  // Each token has its own predecessor; that of the first is null.
  const predecessors = new Set(refresh.map(({ predecessorHash }) => predecessorHash));
  const withSuccessor = refresh.filter(({ hash }) => predecessors.has(hash));
  const withStoredResponse = refresh.filter(({ encryptedResponse }) => encryptedResponse !== null);
  const hasUnusedSuccessor = ({ hash }: RefreshToken): boolean =>
    unused.some(({ predecessorHash }) => predecessorHash === hash);
  return [
    ...(unused.length > 1 ? [`${unused.length} refresh tokens are unused`] : []),
    ...(issuedForCode.length > 1 ? ['the code was exchanged more than once'] : []),
    ...(predecessors.size < refresh.length ? ['two refresh tokens have the same predecessor'] : []),
    ...(withSuccessor.some(({ consumedAt }) => consumedAt === null)
      ? ['a refresh token has a successor and is unused']
      : []),
    ...(access.length === refresh.length
      ? []
      : [`${access.length} access and ${refresh.length} refresh tokens`]),
    ...(withStoredResponse.every(hasUnusedSuccessor)
      ? []
      : ['the response to a refresh is stored although the refresh token in it was used']),
  ].map((violation) => `${grant.id}: ${violation}`);
}

/**
 * Whether the rows equal the grants of the model: the same codes and tokens, each used or revoked in the rows exactly if it is in
 * the model, and the same grants ended.
 */
export function rowsMatchModel(state: State, stored: readonly StoredGrant[]): boolean {
  const wanted = state.map(({ endedBy, code, access, refresh }) => [
    endedBy !== null,
    [[sha256(code.value), code.usedAt !== null]],
    access.map(({ value, isRevoked }) => [sha256(value), isRevoked]).toSorted(),
    refresh.map(({ value, usedAt }) => [sha256(value), usedAt !== null]).toSorted(),
  ]);
  const found = stored.map(({ grant, codes, access, refresh }) => [
    grant.revokedAt !== null,
    codes.map(({ hash, consumedAt }) => [hash, consumedAt !== null]),
    access.map(({ hash, revokedAt }) => [hash, revokedAt !== null]).toSorted(),
    refresh.map(({ hash, consumedAt }) => [hash, consumedAt !== null]).toSorted(),
  ]);
  return isDeepStrictEqual(wanted, found);
}
