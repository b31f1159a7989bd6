import type { EngineKind } from '../../support/database.js';
import { runSql } from '../../support/sql.js';
import type { BreakableServer } from './breakable-server.js';

const SLOW_MS = 5000;
/** Both ways together, longer than a request may take for all that it asks for, and shorter than one answer may. */
const RATHER_SLOW_MS = 600;

/** Something that happens to a database. */
export interface Fault {
  title: string;
  begin(database: BreakableServer): void | Promise<void>;
  end(database: BreakableServer): void | Promise<void>;
  /** Whether what only reads is answered meanwhile. */
  reads?: true;
  /** Whether one that asks for little is answered meanwhile. */
  little?: true;
  /** The one kind of server that can do it. */
  only?: EngineKind;
}

const mend = ({ network }: BreakableServer): Promise<void> => network.mend();

/** What a database, or the network to it, may do. */
export const FAULTS: readonly Fault[] = [
  {
    title: 'stands still',
    begin: ({ server }) => server.freeze(),
    end: ({ server }) => server.thaw(),
  },
  {
    title: 'was killed and does not run',
    begin: ({ server }) => server.kill(),
    end: ({ server }) => server.launch(),
  },
  {
    title: 'refuses connections',
    begin: ({ network }) => network.cut(),
    end: mend,
  },
  {
    title: 'hangs up on whoever connects',
    begin: ({ network }) => network.cut('hung up'),
    end: mend,
  },
  {
    title: 'is behind a network that swallows what is sent',
    begin: ({ network }) => network.hold(),
    end: mend,
  },
  {
    title: 'is slower than anybody waits',
    begin: ({ network }) => network.slow(SLOW_MS),
    end: mend,
  },
  {
    title: 'is slow with each of many statements',
    begin: ({ network }) => network.slow(RATHER_SLOW_MS),
    end: mend,
    little: true,
  },
  {
    title: 'is cut off in the middle of its answers',
    begin: ({ network }) => network.cutAfter(() => 100),
    end: mend,
  },
  {
    title: 'has no connection left',
    begin: (database) => database.takeConnections('of the server'),
    end: (database) => database.returnConnections(),
  },
  {
    title: 'has no connection left for its user',
    begin: (database) => database.takeConnections('of the user'),
    end: (database) => database.returnConnections(),
  },
  {
    title: 'was taken offline',
    begin: ({ server }) => runSql(server.url, 'SET GLOBAL offline_mode = ON').then(() => undefined),
    end: ({ server }) => runSql(server.url, 'SET GLOBAL offline_mode = OFF').then(() => undefined),
    only: 'mysql',
  },
  {
    title: 'lets transactions read only',
    begin: (database) => database.setReadOnlyTransactions(true),
    end: (database) => database.setReadOnlyTransactions(false),
    reads: true,
    only: 'mysql',
  },
  {
    title: 'takes no writes',
    begin: (database) => database.setReadOnly(true),
    end: (database) => database.setReadOnly(false),
    reads: true,
  },
];
