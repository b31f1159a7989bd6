/** Something that holds whatever breaks. */
interface Promised {
  title: string;
  promise: string;
}

/** By the folder of the tests that break it. */
export const PROMISES: Readonly<Record<string, Promised>> = {
  'created-once': {
    title: 'Created once',
    promise:
      'A post is created and counted once or not at all, whatever is killed, and whoever leaves: the posts, what their authors and the quota have counted, the recorded calls and the keys that were answered agree.',
  },
  'database-away': {
    title: 'The database is away',
    promise:
      'While the database is frozen, unreachable, full, read-only or full of deadlocks, what cannot be done is answered 503 with `Retry-After`, never `invalid_grant`, within `DB_TIMEOUT_MS` for each wait, plus 2 seconds where the server does not respond. The service recovers by itself within 5 s; rows that were locked on a connection that the network lost are free within 15 s.',
  },
  overload: {
    title: 'Overload',
    promise:
      'Overload does not bring the service down: excess requests get 503; the 99th percentile of the rest is at most five times that at half load, but for the first half second of a thousand who come at the same moment; those who wait are bounded, and so is the memory. The service is as fast as before within 3 s.',
  },
  failover: {
    title: 'Failover',
    promise:
      'When the primary of a MySQL group (Group Replication, single primary) dies, the service follows to the next one, and publishes again within 15 s. Nothing that was acknowledged is lost, each code and each refresh token is used once, and quotas are exact.',
  },
  intruders: {
    title: 'Intruders',
    promise:
      'Nobody gets in, and nobody learns what is not theirs: not by the risks of the OWASP API Security Top 10 (2023) or the attacks of RFC 9700, nor by ids of others, hostile texts, forged headers, smuggled requests, polluted prototypes or slow patterns. What is shipped has no vulnerability that the registry knows, is under permissive licences, and runs as a user without rights on a read-only file system.',
  },
  model: {
    title: 'Any sequence',
    promise:
      'Any sequence of operations by several users and apps is answered as a small model in memory says, and any interleaving keeps the rules of tokens.',
  },
  backup: {
    title: 'Backup',
    promise:
      'A copy that was made under load restores to a database in which everything adds up, as `doctor` checks.',
  },
  upgrade: {
    title: 'Upgrade',
    promise:
      'The schema of the first release is brought forward and back with its data, while the old version serves.',
  },
};
