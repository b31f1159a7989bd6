/** What must hold whatever breaks, by the folder of the tests that break it. */
export const PROMISES: Readonly<Record<string, string>> = {
  'created-once':
    'A post is created and counted once or not at all, whatever is killed, and whoever leaves.',
  'database-away':
    'A database that is frozen, away, full, read-only or full of deadlocks is a 503 with `Retry-After` within `DB_TIMEOUT_MS` for each wait, and 2 seconds for a server that says nothing, and the service recovers by itself within 5 s.',
  overload:
    'No overload takes the service down: what is too much is a 503, the rest is answered in at most five times the usual, but for the first half second of a thousand who come at the same moment, and memory is bounded.',
  failover:
    'When the primary of a group of database servers dies, nothing that was acknowledged is lost, and the service follows to the next.',
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
