import type { Pool } from 'mysql2/promise';

/** What is prepared in the database for a peer with a token endpoint. */
export interface TokenPeer {
  /** Makes its tables, empty, and registers the client. */
  prepare(pool: Pool): Promise<void>;

  /** The client that the credentials of this number belong to. */
  clientOf(number: number): string;

  /**
   * Adds the authorization codes number `from` to `from + count - 1`, each with a grant of the user
   * `userIds[number % userIds.length]`, good for an hour, by statements of up to 1,000 rows.
   */
  seedCodes(pool: Pool, userIds: readonly string[], from: number, count: number): Promise<void>;

  /** The same for refresh tokens. */
  seedRefreshTokens(
    pool: Pool,
    userIds: readonly string[],
    from: number,
    count: number,
  ): Promise<void>;
}

/** How long seeded credentials live, in seconds. */
export const SEEDED_SECONDS = 3600;

/** Lifetimes in seconds, as the service has them unless it is configured otherwise. */
export const LIFETIMES = {
  code: 300,
  accessToken: 3600,
  refreshToken: 2_592_000,
  grant: 15_552_000,
  session: 1800,
} as const;

export interface Seed {
  number: number;
  userId: string;
}

/** The numbers `from` to `from + count - 1`, each with its user. */
export function seeds(userIds: readonly string[], from: number, count: number): Seed[] {
  return Array.from({ length: count }, (_, index) => {
    const number = from + index;
    const userId = userIds[number % userIds.length];
    if (userId === undefined) throw new Error('Credentials need users.');
    return { number, userId };
  });
}
