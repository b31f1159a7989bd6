/** A database server that belongs to this run alone. */
export interface PrivateServer {
  readonly url: string;
  readonly pid: number | undefined;
  /** Ends it in order and starts it anew, on the same data and port. */
  restart(): Promise<void>;
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same data and port. */
  launch(): Promise<void>;
  /** Stops it where it is: connections stay open, and nothing is answered. */
  freeze(): void;
  /** Lets it go on after `freeze`. */
  thaw(): void;
  stop(): Promise<void>;
}

export interface PrivateServerOptions {
  /** Where it has its folder; that for temporary files by default. */
  parent?: string;
  /** More options of the server, which win over those that are fast rather than durable. */
  settings?: readonly string[];
}

/** Until a server that is told to end is ended by force. */
export const STOP_MS = 10_000;

/**
 * Fast rather than durable. Not in UTC and not strict, so that whoever asks the server for local time, or counts on it
 * to refuse what does not fit, is found out.
 */
export const FAST_SETTINGS: readonly string[] = [
  '--default-time-zone=-05:30',
  '--sql-mode=',
  '--innodb-flush-log-at-trx-commit=2',
  '--innodb-buffer-pool-size=64M',
  '--innodb-doublewrite=OFF',
  '--skip-log-bin',
  '--performance-schema=OFF',
  '--max-connections=500',
];

/** What makes the account that tests use. */
export function testAccount(password: string): string[] {
  return [
    `CREATE USER tests@'127.0.0.1' IDENTIFIED BY '${password}'`,
    `GRANT ALL ON *.* TO tests@'127.0.0.1' WITH GRANT OPTION`,
  ];
}

/** As whoever wants to lose nothing runs it. */
export const DURABLE_SETTINGS: readonly string[] = [
  '--innodb-flush-log-at-trx-commit=1',
  '--innodb-doublewrite=ON',
];
