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
      'sqlite:<path>, or mysql://user:password@host:3306/name for MySQL and MariaDB. Several hosts, with commas between them, name replicated servers, one of which accepts writes at a time; the service finds it.',
    ),
  DB_TIMEOUT_MS: wholeNumber(100)
    .default(5000)
    .describe(
      'Longest wait, in milliseconds, for a free connection, a statement or (rounded up to whole seconds) a lock. On a server it also limits the sum of these waits in one request: beyond it, the request starts no more statements. A request that shared a transaction that failed may wait as long once more. A server that does not respond, or a MySQL statement that writes, is given up after this time, rounded up to seconds, plus 2 s. Migration statements have no limit.',
    ),
  DB_POOL_SIZE: wholeNumber(1).default(10).describe('Most connections of one process.'),
  DB_QUEUE_LIMIT: wholeNumber(1)
    .default(1000)
    .describe('Most requests that queue in one process; further ones are answered 503 at once.'),
  MIGRATE: flag
    .optional()
    .describe('1 migrates the database at start, 0 does not; 1 by default outside production.'),
  DEMO: flag
    .optional()
    .describe(
      '1 seeds demo data into an empty database, 0 does not; 1 by default on SQLite. Refused in production.',
    ),
};
