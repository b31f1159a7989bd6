import type { EngineKind } from '../../support/database.js';
import { runSql } from '../../support/sql.js';
import type { BreakableServer } from './breakable-server.js';

const SLOW_MS = 5000;
/** Within the timeout of one statement, but too long for all statements of a request. */
const SLOW_ROUND_TRIP_MS = 600;

/** A failure of a database or its network. */
export interface Fault {
  title: string;
  begin(database: BreakableServer): void | Promise<void>;
  end(database: BreakableServer): void | Promise<void>;
  /** Whether all reads succeed during the fault. */
  readsSucceed?: true;
  /** Whether reads with few statements may succeed during the fault. */
  someReadsSucceed?: true;
  /** The only kind of server with this fault. */
  only?: EngineKind;
}

const repairNetwork = ({ network }: BreakableServer): Promise<void> => network.repair();

/** The failures of a database and of the network to it. */
export const FAULTS: readonly Fault[] = [
  {
    title: 'is frozen',
    begin: ({ server }) => server.suspend(),
    end: ({ server }) => server.resume(),
  },
  {
    title: 'was killed',
    begin: ({ server }) => server.kill(),
    end: ({ server }) => server.start(),
  },
  {
    title: 'refuses connections',
    begin: ({ network }) => network.cut(),
    end: repairNetwork,
  },
  {
    title: 'closes each new connection',
    begin: ({ network }) => network.cut('closed'),
    end: repairNetwork,
  },
  {
    title: 'is behind a network that drops all packets',
    begin: ({ network }) => network.hold(),
    end: repairNetwork,
  },
  {
    title: 'is slower than the timeout',
    begin: ({ network }) => network.slow(SLOW_MS),
    end: repairNetwork,
  },
  {
    title: 'is slow with each statement',
    begin: ({ network }) => network.slow(SLOW_ROUND_TRIP_MS),
    end: repairNetwork,
    someReadsSucceed: true,
  },
  {
    title: 'loses connections in the middle of responses',
    begin: ({ network }) => network.cutAfterBytes(() => 100),
    end: repairNetwork,
  },
  {
    title: 'has no free connection',
    begin: (database) => database.exhaustConnections('server'),
    end: (database) => database.releaseConnections(),
  },
  {
    title: 'has no free connection for its user',
    begin: (database) => database.exhaustConnections('user'),
    end: (database) => database.releaseConnections(),
  },
  {
    title: 'was taken offline',
    begin: ({ server }) => runSql(server.url, 'SET GLOBAL offline_mode = ON').then(() => undefined),
    end: ({ server }) => runSql(server.url, 'SET GLOBAL offline_mode = OFF').then(() => undefined),
    only: 'mysql',
  },
  {
    title: 'allows read-only transactions only',
    begin: (database) => database.setReadOnlyTransactions(true),
    end: (database) => database.setReadOnlyTransactions(false),
    readsSucceed: true,
    only: 'mysql',
  },
  {
    title: 'is read-only',
    begin: (database) => database.setReadOnly(true),
    end: (database) => database.setReadOnly(false),
    readsSucceed: true,
  },
];
