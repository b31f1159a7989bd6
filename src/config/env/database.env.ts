import { z } from 'zod';
import { namesServers } from '../database-servers.js';
import { flag, wholeNumber } from './values.js';

/** Where the rows are. */
export const database = {
  DATABASE_URL: z
    .string()
    .regex(
      /^(sqlite:.+|(mysql|mariadb):\/\/.+)$/,
      'must be sqlite:<path> or mysql://user:password@host:port/name',
    )
    .refine(namesServers, {
      message:
        'must name each server as host:port, as in mysql://user:password@first:3306,second:3306/name',
    })
    .default('sqlite:./data/service.sqlite')
    .describe(
      'sqlite:<path>, or mysql://user:password@host:3306/name for MySQL and MariaDB. Several hosts, with commas between them, are servers of which one at a time takes writes; the service finds it.',
    ),
  DB_TIMEOUT_MS: wholeNumber(100)
    .default(5000)
    .describe(
      'Longest time, in milliseconds, to wait for a connection or a statement; for a lock, in whole seconds, rounded up. On a server, a request that has waited so long for all of these together begins no more of them; one that shared a transaction in which another one met a lock may wait as long again. A server that says nothing is given up 2 seconds after those. The statements of migrations have no limit.',
    ),
  DB_POOL_SIZE: wholeNumber(1).default(10).describe('Most connections of one process.'),
  DB_QUEUE_LIMIT: wholeNumber(1)
    .default(1000)
    .describe('Most requests that wait for others to be answered; more are answered 503.'),
  MIGRATE: flag
    .optional()
    .describe('1 migrates the database at start, 0 does not; 1 by default outside production.'),
  DEMO: flag
    .optional()
    .describe(
      '1 seeds demo data into an empty database, 0 does not; 1 by default on SQLite. Refused in production.',
    ),
};
