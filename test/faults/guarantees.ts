/** A property that holds despite faults. */
interface Guarantee {
  title: string;
  text: string;
}

/** The guarantees by the folder of their tests. */
export const GUARANTEES: Readonly<Record<string, Guarantee>> = {
  idempotency: {
    title: 'Idempotent publishing',
    text: 'Each post is created and counted exactly once or not at all, even when a process, a connection or a client fails: posts, counters of authors and quotas, call log and idempotency keys agree.',
  },
  'database-outage': {
    title: 'Database unavailable',
    text: 'While the database is frozen, unreachable, full or read-only, or has constant deadlocks, a request that it cannot serve gets 503 with `Retry-After`, never `invalid_grant`. The request waits for at most `DB_TIMEOUT_MS` for a connection, as long for its statements, and 2 seconds more if the server does not respond. The service recovers by itself within 5 s. Row locks of a connection that the network lost are released within 15 s.',
  },
  overload: {
    title: 'Overload',
    text: 'The service stays up under overload: excess requests get 503. The 99th percentile of the response times of the other requests is at most 2 s, except in the first half second of a thousand concurrent callers. The queue and the memory are bounded. From 3 s after the overload on, no request gets 503, and the 99th percentile is at most five times that at half load. In the results, full load is that of 48 callers without pauses, and half load is half their rate.',
  },
  failover: {
    title: 'Failover',
    text: 'When the primary of a MySQL group (Group Replication, single primary) dies, the service switches to the next one and publishes again within 15 s. No acknowledged write is lost, each code and each refresh token is used once, and quotas are exact.',
  },
  attacks: {
    title: 'Attacks',
    text: 'Attackers get no access and no data of other users: neither through the risks of the OWASP API Security Top 10 (2023) and the attacks of RFC 9700, nor through ids of other users, injection, forged headers, request smuggling, prototype pollution or slow regular expressions. The shipped packages have permissive licences and no known vulnerability. The service works as an unprivileged user on a read-only file system with one writable volume.',
  },
  model: {
    title: 'Model-based tests',
    text: 'Random sequences of token requests by several users and apps get the responses that a small in-memory model predicts, in any interleaving.',
  },
  backup: {
    title: 'Backup',
    text: 'A backup made under load restores to a consistent database, as `doctor` checks.',
  },
  upgrade: {
    title: 'Upgrade',
    text: 'The schema of the first release is migrated and reverted, without loss of data, while the old version serves requests.',
  },
};
