/** The environment of a peer. */
export interface PeerSettings {
  /** On 127.0.0.1. */
  port: number;
  /** `mysql://user:password@host:port/name` */
  databaseUrl: string;
  /** Maximum number of database connections, the same as for the service. */
  poolSize: number;
}

/** @throws if a variable is missing */
export function peerSettings(): PeerSettings {
  const { PORT, DATABASE_URL, DB_POOL_SIZE } = process.env;
  if (!PORT || !DATABASE_URL || !DB_POOL_SIZE)
    throw new Error('A peer needs PORT, DATABASE_URL and DB_POOL_SIZE.');
  return { port: Number(PORT), databaseUrl: DATABASE_URL, poolSize: Number(DB_POOL_SIZE) };
}
