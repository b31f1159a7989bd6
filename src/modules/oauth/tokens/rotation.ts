import { addMilliseconds, SECOND } from '../../../platform/clock.js';

/*
 * The rules for a refresh token that is sent again after its use. docs/rotation.md draws them as a state machine, and
 * rotation.spec.ts searches all schedules of honest workers and of a thief.
 */

/** The retry window: for this time after its use, a used refresh token can get the same response. */
export const REPLAY_MS = 30 * SECOND;

/** Repeats within this time of the first use, or of the first late repeat, are one race. */
export const RACE_MS = 2 * SECOND;

/** What is stored about the use of a refresh token. */
export interface TokenUse {
  /** The first use. */
  consumedAt: Date;
  /** End of the retry window. Null once the successor was used. */
  responseExpiresAt: Date | null;
  /** The first late repeat. */
  replayedAt: Date | null;
  /** Whether the token before this one had a late repeat. */
  followsLateRepeat: boolean;
  /** Whether the access token of the response was revoked. */
  isAccessTokenRevoked: boolean;
}

export const REPEAT_KINDS = ['race', 'late', 'reuse'] as const;

/** `race` and `late` repeats get the stored response; `reuse` revokes the grant. */
export type RepeatKind = (typeof REPEAT_KINDS)[number];

/** Classifies a repeat (RFC 9700 §4.14.2). See the class `RefreshTokenGrant` for the reasons. */
export function repeatKind(use: TokenUse, receivedAt: Date): RepeatKind {
  const { consumedAt, responseExpiresAt, replayedAt } = use;
  if (use.isAccessTokenRevoked) return 'reuse';
  if (responseExpiresAt === null || receivedAt > responseExpiresAt) return 'reuse';
  if (receivedAt <= addMilliseconds(replayedAt ?? consumedAt, RACE_MS)) return 'race';
  return replayedAt !== null || use.followsLateRepeat ? 'reuse' : 'late';
}

/** The new end of the retry window after a late repeat at `now`: workers repeat a lost refresh at once, too. */
export function extendedWindow(responseExpiresAt: Date, now: Date): Date {
  const raceEndsAt = addMilliseconds(now, RACE_MS);
  return responseExpiresAt > raceEndsAt ? responseExpiresAt : raceEndsAt;
}
