import { Injectable, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { AuditEventReader, AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { addMilliseconds, Clock, HOUR, MINUTE } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { type CounterCache, CounterCaches } from '../../../platform/database/counter-cache.js';
import {
  DatabaseDiagnostics,
  type DatabaseSettings,
  missingPrivileges,
} from '../../../platform/database/database-status.js';
import { Migrator } from '../../../platform/database/migrations/migrator.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { ClockSkew, lastTimeOf } from '../../../platform/lifecycle/clock-skew.js';
import { type JobName, JOBS } from '../../../platform/lifecycle/job-runner.service.js';
import { JobRunsRepository } from '../../../platform/lifecycle/job-runs.repository.js';
import { AppsService } from '../../oauth/clients/apps.service.js';
import { OtpOperations } from '../../oauth/sign-in/otp-operations.service.js';
import { QuotaReconciliation } from '../../quota/months/quota-reconciliation.service.js';
import { isFictional } from '../../users/test-members.js';
import { UsersService } from '../../users/users.service.js';
import { WebhookEndpoints } from '../../webhooks/webhook-endpoints.service.js';
import { COUNTERS } from '../counters.js';
import {
  capitalized,
  type Check,
  type CheckOptions,
  failed,
  type Finding,
  messageOf,
  type NamedFinding,
  ok,
  runChecks,
  warning,
} from './check.js';

/** Runs the checks that need the database. Some of them run only if no migration is pending. */
@Injectable()
export class Doctor {
  constructor(private readonly modules: ModuleRef) {}

  async run(options: CheckOptions): Promise<NamedFinding[]> {
    const { repairAs } = options;
    const get: Services = (service) => this.modules.get(service, { strict: false });
    const onAnySchema: Check[] = [
      ['database', () => serverFinding(get(DatabaseDiagnostics))],
      ['settings', () => settingsFindings(get(DatabaseDiagnostics), get(AppConfig))],
      ['clock', () => clockFinding(get(ClockSkew))],
      ['migrations', () => migrationsFinding(get(Migrator))],
    ];
    const onCurrentSchema: Check[] = [
      ['permissions', () => permissionFindings(get)],
      ...COUNTERS.map((counter): Check => [
        'counters',
        () => counterFinding(get, counter, repairAs),
      ]),
      ['phones', () => phoneFinding(get(UsersService))],
      ['test mode', () => testModeFindings(get(AppsService), get(UsersService))],
      ['sign-in', () => pauseFindings(get(OtpOperations))],
      ['events', () => eventFindings(get(WebhookEndpoints))],
      ['quota', () => quotaFinding(get(QuotaReconciliation), repairAs)],
      ['documentation', () => documentationFindings(get)],
      [
        'jobs',
        async () => [...(await futureJobFindings(get, repairAs)), ...(await jobFindings(get))],
      ],
    ];
    const findings = await runChecks(onAnySchema, options);
    if (await get(Migrator).isCurrent())
      return [...findings, ...(await runChecks(onCurrentSchema, options))];
    const check = [...new Set(onCurrentSchema.map(([name]) => name))].join(', ');
    return [...findings, { check, ...warning('Skipped while migrations are pending.') }];
  }
}

/** Reports a pause, which an operator may have forgotten. */
async function pauseFindings(otp: OtpOperations): Promise<Finding[]> {
  if (!(await otp.isPaused())) return [];
  const summary = 'One-time passwords are paused, so users without a session cannot sign in.';
  return [warning(summary, 'devplatform otp resume')];
}

/** Reports endpoints of apps that fail, and those that the service has disabled. */
async function eventFindings(endpoints: WebhookEndpoints): Promise<Finding[]> {
  return (await endpoints.all()).flatMap(({ clientId, failingSince, disabledBy, disabledAt }) => {
    if (disabledBy === 'operator' || (failingSince ?? disabledAt) === null) return [];
    const state = disabledAt === null ? `fail since ${failingSince?.toISOString()}` : 'have ended';
    const remedy = `devplatform app webhook deliveries ${clientId}`;
    return [warning(`The deliveries of events to ${clientId} ${state}.`, remedy)];
  });
}

/** Finds a service of any module. */
type Services = <T>(service: Type<T> | (abstract new () => T)) => T;
type RepairAs = CheckOptions['repairAs'];

const OLDEST_SUPPORTED = { SQLite: [3, 40], MariaDB: [10, 11], MySQL: [8, 4] } as const;
/** A request needs several round trips. */
const SLOW_MS = 50;

/** Checks the database product, its version and its latency. */
async function serverFinding(diagnostics: DatabaseDiagnostics): Promise<Finding> {
  const { name, version } = await diagnostics.engine();
  const latency = await diagnostics.latency();
  const summary = `${name} ${version} responds in ${latency.toFixed(1)} ms.`;
  const [major, minor] = OLDEST_SUPPORTED[name];
  if (isOlder(version, major, minor))
    return warning(summary, `Upgrade to ${name} ${major}.${minor} or newer.`);
  if (latency > SLOW_MS) return warning(summary, 'Run the service closer to its database.');
  return ok(summary);
}

function isOlder(version: string, major: number, minor: number): boolean {
  const [actualMajor = 0, actualMinor = 0] = version
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  return actualMajor < major || (actualMajor === major && actualMinor < minor);
}

/** Checks the session settings and the character sets of tables. Returns nothing on SQLite. */
async function settingsFindings(
  diagnostics: DatabaseDiagnostics,
  { database: { poolSize } }: AppConfig,
): Promise<Finding[]> {
  const settings = await diagnostics.settings();
  if (settings === null) return [];
  const found = [
    ...sessionFindings(settings),
    ...serverLimitFindings(settings, poolSize),
    ...textFindings(settings),
  ];
  return found.length > 0
    ? found
    : [ok('Isolation level, strict mode and character set are correct.')];
}

function sessionFindings({ isolation, sqlModes, characterSets }: DatabaseSettings): Finding[] {
  const problems = Object.entries(characterSets).flatMap(([variable, name]) =>
    name === 'utf8mb4' ? [] : [`${variable} is ${name}, not utf8mb4, so texts are damaged.`],
  );
  if (!sqlModes.includes('STRICT_ALL_TABLES'))
    problems.unshift('Strict mode is off, so values that are too long for a column are truncated.');
  if (isolation !== 'READ-COMMITTED')
    problems.unshift(`The isolation level is ${isolation}, not READ-COMMITTED.`);
  const remedy =
    'Find the proxy between the service and the database that resets session variables.';
  return problems.map((problem) => failed(problem, remedy));
}

/** An import sends up to half a megabyte at once. */
const MIN_PACKET_BYTES = 1_048_576;
/** Of a command that runs beside the service. */
const COMMAND_CONNECTIONS = 2;

function serverLimitFindings(
  { binlogFormat, maxConnections, maxAllowedPacket }: DatabaseSettings,
  poolSize: number,
): Finding[] {
  const needed = poolSize + COMMAND_CONNECTIONS;
  const problems: [isWrong: boolean, finding: Finding][] = [
    [
      // READ COMMITTED cannot be replicated by statements.
      binlogFormat === 'STATEMENT',
      failed(
        'binlog_format is STATEMENT, so no write succeeds.',
        'SET GLOBAL binlog_format = ROW; then restart the service.',
      ),
    ],
    [
      maxConnections < needed,
      warning(
        `max_connections is ${maxConnections}, but one process and one command need up to ${needed}.`,
        'Raise max_connections to the sum of DB_POOL_SIZE of all processes, and two for each command.',
      ),
    ],
    [
      maxAllowedPacket < MIN_PACKET_BYTES,
      warning(
        `max_allowed_packet is ${maxAllowedPacket} bytes, so large requests and imports fail.`,
        `SET GLOBAL max_allowed_packet = ${16 * MIN_PACKET_BYTES};`,
      ),
    ],
  ];
  return problems.flatMap(([isWrong, finding]) => (isWrong ? [finding] : []));
}

function textFindings({
  expectedCollation: collation,
  defaultCollation,
  tablesWithOtherCollation,
}: DatabaseSettings): Finding[] {
  const found = tablesWithOtherCollation.map((table) =>
    failed(
      `The table ${table} does not use utf8mb4 with the collation ${collation}.`,
      `ALTER TABLE ${table} CONVERT TO CHARACTER SET utf8mb4 COLLATE ${collation};`,
    ),
  );
  if (defaultCollation !== collation)
    found.push(
      warning(
        `New tables would get the collation ${defaultCollation}.`,
        `ALTER DATABASE CHARACTER SET utf8mb4 COLLATE ${collation};`,
      ),
    );
  return found;
}

async function clockFinding(clockSkew: ClockSkew): Promise<Finding> {
  const problem = await clockSkew.problem();
  if (problem === undefined) return ok('The clock agrees with that of the database.');
  // The text of a problem ends with a colon and the remedy.
  const [summary = '', remedy] = problem.split(': ');
  return failed(`${capitalized(summary)}.`, remedy && `${capitalized(remedy)}.`);
}

async function migrationsFinding(migrator: Migrator): Promise<Finding> {
  const { pending, unknown, statements } = await migrator.difference();
  const remedy = 'To see the differences: devplatform db check';
  if (pending.length > 0)
    return failed(`Pending: ${pending.join(', ')}.`, 'devplatform db migrate');
  if (unknown.length > 0) return failed('A newer version migrated this database.', remedy);
  if (statements.length > 0) return failed('The schema differs from the migrations.', remedy);
  return ok('The schema matches this version.');
}

const MIGRATION_PRIVILEGES = ['ALTER', 'CREATE', 'DROP', 'INDEX'];
const GRANT_READ_WRITE = 'GRANT SELECT, INSERT, UPDATE, DELETE ON <database>.* TO <user>;';

/** Checks that the database user can write, in a transaction that is rolled back, and migrate. */
async function permissionFindings(get: Services): Promise<Finding[]> {
  const written = await get(JobRunsRepository)
    .checkWritable()
    .then(
      () => ok('The service can read and write.'),
      (error: unknown) => failed(`The service cannot write. ${messageOf(error)}`, GRANT_READ_WRITE),
    );
  const privileges = await get(DatabaseDiagnostics).privileges();
  // SQLite has no privileges.
  if (privileges === null) return [written];
  const missing = missingPrivileges(privileges, MIGRATION_PRIVILEGES).join(', ');
  if (missing === '') return [written, ok('"db migrate" can change the schema.')];
  const unless = privileges.hasRoles ? ', unless a role grants them' : '';
  const lacking = warning(
    `"db migrate" lacks privileges: ${missing}${unless}. The service itself does not need them.`,
    `GRANT ${missing} ON <database>.* TO <user>;`,
  );
  return [written, lacking];
}

/** At most three of the rows with a problem, and their number. */
class Examples {
  count = 0;
  private readonly shown: string[] = [];

  add(row: string): void {
    this.count += 1;
    if (this.count <= 3) this.shown.push(row);
  }

  /** Such as `2 rows, such as …`. */
  describe(noun: string): string {
    const counted = `${this.count} ${this.count === 1 ? noun : `${noun}s`}`;
    return `${counted}, such as ${this.shown.join(', ')}`;
  }
}

/** Compares a counter cache with the rows that it counts, and corrects each wrong row in its own transaction. */
async function counterFinding(
  get: Services,
  counter: CounterCache,
  repairAs: RepairAs,
): Promise<Finding> {
  const counters = get(CounterCaches);
  const name = counters.nameOf(counter);
  const wrong = new Examples();
  for await (const found of counters.discrepancies(counter)) {
    const { id } = found;
    const discrepancy = repairAs
      ? await get(TransactionRunner).run(async (tx) => {
          const corrected = await counters.correct(tx, counter, id);
          if (!corrected) return undefined;
          const details = { counter: name, from: corrected.stored, to: corrected.counted };
          await get(AuditLog).record(tx, 'counters.fixed', id, repairAs, details);
          return corrected;
        })
      : found;
    // Undefined if the counter is no longer wrong.
    if (discrepancy) wrong.add(`${id} (${discrepancy.stored}, not ${discrepancy.counted})`);
  }
  if (wrong.count === 0) return ok(`${name} is correct in every row.`);
  const rows = wrong.describe('row');
  if (repairAs) return ok(`${name} was corrected. It was wrong in ${rows}.`);
  return failed(`${name} is wrong in ${rows}.`, 'devplatform doctor --fix');
}

/** Warns of numbers that an earlier version stored with superfluous trunk prefixes, such as +4901711234567. */
async function phoneFinding(users: UsersService): Promise<Finding> {
  const misparsed = new Examples();
  for await (const id of users.idsWithMisparsedPhone()) misparsed.add(id);
  if (misparsed.count === 0) return ok('Every stored phone number is parsed as itself.');
  return warning(
    `${misparsed.describe('user')}, cannot sign in: the stored phone number has a superfluous prefix, or is no phone number.`,
    'Read the number with "user show --full", and correct it with "user change-phone".',
  );
}

/** Counts test apps and test members, and warns of members whose number may belong to a person. */
async function testModeFindings(apps: AppsService, users: UsersService): Promise<Finding[]> {
  const testApps = (await apps.list()).filter(({ test }) => test);
  const members = await users.testMembers();
  if (testApps.length + members.length === 0) return [];
  const outside = new Examples();
  for (const { id, phone } of members) if (phone && !isFictional(phone)) outside.add(id);
  const summary = `Test apps: ${testApps.length}. Test members: ${members.length}.`;
  if (outside.count === 0) return [ok(summary)];
  return [
    warning(
      `${summary} ${outside.describe('test member')}, with a number that is not reserved for fiction. If it belongs to a person, they cannot become a member with it.`,
      'devplatform user change-phone USER_ID --phone +14155550123',
    ),
  ];
}

/** Compares this month's usage of each app with its recorded calls. */
async function quotaFinding(
  reconciliation: QuotaReconciliation,
  repairAs: RepairAs,
): Promise<Finding> {
  const discrepancies = await reconciliation.discrepancies();
  if (discrepancies.length === 0) return ok("This month's quota counters match the call log.");
  const apps = discrepancies.length === 1 ? '1 app' : `${discrepancies.length} apps`;
  if (!repairAs)
    return failed(
      `This month's quota counters of ${apps} differ from the call log.`,
      'devplatform quota reconcile',
    );
  for (const discrepancy of discrepancies) await reconciliation.fix(discrepancy, repairAs);
  return ok(`This month's quota counters of ${apps} were corrected.`);
}

async function documentationFindings(get: Services): Promise<Finding[]> {
  if (!get(AppConfig).production || (await get(AppsService).findDocsApp())) return [];
  const summary = 'The documentation has no app, so partners cannot authorize at /docs.';
  return [warning(summary, 'devplatform app create --docs')];
}

/** Fails if a job ran in the future, by a clock that was wrong then or is wrong now. On SQLite, no job runs until this is corrected. */
async function futureJobFindings(get: Services, repairAs: RepairAs): Promise<Finding[]> {
  const clockSkew = get(ClockSkew);
  const run = await clockSkew.findFutureRun();
  if (!run) return [];
  const summary = `The job ${run.job} last ran at ${lastTimeOf(run).toISOString()}, which is in the future.`;
  const problem = await clockSkew.problem();
  if (problem !== undefined) return [failed(summary, `${capitalized(problem)}.`)];
  if (!repairAs)
    return [failed(summary, 'Check the clock of this machine, then run: devplatform doctor --fix')];
  const deleted = await get(TransactionRunner).run(async (tx) => {
    const count = await get(JobRunsRepository).deleteAfter(tx, clockSkew.latestTime());
    await get(AuditLog).record(tx, 'job_runs.fixed', 'job_runs', repairAs, { deleted: count });
    return count;
  });
  return [ok(`${summary} Deleted ${deleted} records of runs in the future.`)];
}

/** The longest time until the first run of a job ends: the time between two attempts, and as much again; and its command. */
const SCHEDULES: Readonly<Record<JobName, readonly [firstRunMs: number, command: string]>> = {
  prune: [2 * HOUR, 'prune'],
  'quota-reset': [2 * HOUR, 'quota reset'],
  'usage-rollup': [30 * MINUTE, 'usage rollup'],
};

/** Warns of each job that has not finished in time. Requests succeed even if a job does not run, so nothing else reveals it. */
async function jobFindings(get: Services): Promise<Finding[]> {
  const now = get(Clock).now();
  const findings = await Promise.all(
    JOBS.map(async (name): Promise<Finding[]> => {
      const [firstRunMs, command] = SCHEDULES[name];
      const mustHaveFinishedSince = addMilliseconds(now, -firstRunMs);
      const finished = await get(JobRunsRepository).findLastFinish(name);
      // `futureJobFindings` reports it.
      if (finished !== null && finished > get(ClockSkew).latestTime()) return [];
      if (finished !== null && finished >= mustHaveFinishedSince)
        return [ok(`The job ${name} last finished at ${finished.toISOString()}.`)];
      if (
        finished === null &&
        (await wasMigratedSince(get(AuditEventReader), mustHaveFinishedSince))
      )
        return [ok(`The job ${name} has not been due since the installation.`)];
      const last =
        finished === null ? 'has never finished' : `last finished at ${finished.toISOString()}`;
      return [
        warning(
          `The job ${name} ${last}. Check that the service is running, and read its log.`,
          `devplatform ${command}`,
        ),
      ];
    }),
  );
  return findings.flat();
}

/** Whether this version was installed after `since`. Its migration may have added the job. */
async function wasMigratedSince(audit: AuditEventReader, since: Date): Promise<boolean> {
  const { done } = await audit.search({ since, action: 'db.migrated' }, 1).next();
  return done !== true;
}
