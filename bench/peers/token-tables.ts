import type { Pool } from 'mysql2/promise';

/** The tables of codes and tokens of a program with a token endpoint: the service or a peer. */
export interface TokenTables {
  /** The name of the table of access tokens. */
  accessTokens: string;

  /** Creates empty tables and registers the client, unless migrations or `fillDataSet` did. */
  prepare(pool: Pool): Promise<void>;

  /** The client_id for the credentials with this number. */
  clientOf(number: number): string;

  /**
   * Inserts the authorization codes `from` to `from + count - 1`, each for the user
   * `userIds[number % userIds.length]`, with a grant if the program has grants. They are valid for `SEEDED_SECONDS`.
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

/** Lifetime of seeded credentials in seconds. */
export const SEEDED_SECONDS = 3600;

/** The default lifetimes of the service, in seconds. */
export const LIFETIMES = {
  code: 300,
  accessToken: 3600,
  refreshToken: 2_592_000,
  grant: 15_552_000,
  session: 1800,
} as const;

/** The number of a credential to insert, and the user of the credential. */
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
