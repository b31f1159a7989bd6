/** What must hold whatever breaks, by the folder of the tests that break it. */
export const PROMISES: Readonly<Record<string, string>> = {
  'created-once':
    'A post is created and counted once or not at all, whatever is killed, and whoever leaves.',
  'database-away':
    'While the database is frozen, unreachable, full, read-only or full of deadlocks, what cannot be done is answered 503 with `Retry-After` within `DB_TIMEOUT_MS` for each wait, plus 2 seconds where the server does not respond. The service recovers by itself within 5 s; rows that were locked on a connection that the network lost are free within about 10 s.',
  overload:
    'Overload does not bring the service down: excess requests get 503; the 99th percentile of the rest is at most five times that at half load, but for the first half second of a thousand who come at the same moment; memory is bounded.',
  failover:
    'When the primary of a MySQL group (Group Replication, single primary) dies, nothing that was acknowledged is lost, and the service follows to the next.',
  intruders: 'Nobody gets in, and nobody learns what is not theirs.',
  model:
    'Any sequence of operations by several users and apps is answered as a small model in memory says, and any interleaving keeps the rules of tokens.',
  backup: 'A copy that was made under load restores to a database in which everything adds up.',
  upgrade:
    'The schema of the first release is brought forward and back with its data, while the old version serves.',
};

/** Whether each fault is injected a few times, as in CI, or as often as promised. */
export const IS_QUICK = process.env.FAULTS !== 'full';

/** How often a fault is injected. */
export const times = (promised: number, quick: number): number => (IS_QUICK ? quick : promised);
