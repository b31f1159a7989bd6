import { Injectable } from '@nestjs/common';
import { AuditEventReader } from '../../../platform/audit/audit-event-reader.repository.js';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import type { CounterCache, Discrepancy } from '../../../platform/database/counter-cache.js';
import { DatabaseDiagnostics } from '../../../platform/database/database-status.js';
import { Migrator } from '../../../platform/database/migrations/migrator.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { ClockSkew } from '../../../platform/lifecycle/clock-skew.js';
import { JobRunsRepository } from '../../../platform/lifecycle/job-runs.repository.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { AppsService } from '../../oauth/clients/apps.service.js';
import { CommentsService } from '../../comments/comments.service.js';
import { PostsService } from '../../posts/posts.service.js';
import { QuotaReconciliation } from '../../quota/months/quota-reconciliation.service.js';
import { UsersService } from '../../users/users.service.js';
import {
  type Check,
  runChecks,
  type CheckOptions,
  type Finding,
  type NamedFinding,
  warning,
} from './check.js';
import {
  counterFindings,
  futureJobFindings,
  jobFindings,
  phoneFinding,
  quotaFinding,
} from './data.checks.js';
import {
  clockFinding,
  migrationPrivilegeFindings,
  migrationsFinding,
  serverFinding,
  settingsFindings,
  writeFinding,
} from './database.checks.js';

/** Runs the checks that need the database. Some of them run only if no migration is pending. */
@Injectable()
export class Doctor {
  constructor(
    private readonly diagnostics: DatabaseDiagnostics,
    private readonly clockSkew: ClockSkew,
    private readonly migrator: Migrator,
    private readonly runs: JobRunsRepository,
    private readonly users: UsersService,
    private readonly posts: PostsService,
    private readonly comments: CommentsService,
    private readonly quota: QuotaReconciliation,
    private readonly audit: AuditLog,
    private readonly auditEvents: AuditEventReader,
    private readonly transactions: TransactionRunner,
    private readonly apps: AppsService,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  async run(options: CheckOptions): Promise<NamedFinding[]> {
    const { repairAs } = options;
    const { diagnostics, runs } = this;
    const onAnySchema: Check[] = [
      { name: 'database', run: async () => [await serverFinding(diagnostics)] },
      { name: 'settings', run: () => settingsFindings(diagnostics) },
      { name: 'clock', run: async () => [await clockFinding(this.clockSkew)] },
      { name: 'migrations', run: async () => [await migrationsFinding(this.migrator)] },
    ];
    const onCurrentSchema: Check[] = [
      {
        name: 'permissions',
        run: async () => [
          await writeFinding(runs),
          ...(await migrationPrivilegeFindings(diagnostics)),
        ],
      },
      ...[...this.posts.counters(), ...this.comments.counters()].map((counter) => ({
        name: 'counters',
        run: () =>
          counterFindings(counter, repairAs && ((id) => this.correct(counter, id, repairAs))),
      })),
      { name: 'phones', run: async () => [await phoneFinding(this.users)] },
      { name: 'quota', run: async () => [await quotaFinding(this.quota, repairAs)] },
      { name: 'documentation', run: () => this.documentationFindings() },
      {
        name: 'jobs',
        run: async () => [
          ...(await futureJobFindings(
            this.clockSkew,
            repairAs && (() => this.deleteFutureRuns(repairAs)),
          )),
          ...(await jobFindings(runs, this.auditEvents, {
            now: this.clock.now(),
            latest: this.clockSkew.latestTime(),
          })),
        ],
      },
    ];
    const findings = await runChecks(onAnySchema, options);
    if (await this.migrator.isCurrent())
      return [...findings, ...(await runChecks(onCurrentSchema, options))];
    const check = [...new Set(onCurrentSchema.map(({ name }) => name))].join(', ');
    return [...findings, { check, ...warning('Skipped while migrations are pending.') }];
  }

  private async documentationFindings(): Promise<Finding[]> {
    if (!this.config.production || (await this.apps.findDocsApp())) return [];
    const summary = 'The documentation has no app, so partners cannot authorize at /docs.';
    return [warning(summary, 'devplatform app create --docs')];
  }

  private deleteFutureRuns(change: Change): Promise<number> {
    return this.transactions.run(async (tx) => {
      const deleted = await this.runs.deleteAfter(tx, this.clockSkew.latestTime());
      await this.audit.record(tx, 'job_runs.fixed', 'job_runs', change, { deleted });
      return deleted;
    });
  }

  private correct(
    counter: CounterCache,
    id: string,
    change: Change,
  ): Promise<Discrepancy | undefined> {
    return this.transactions.run(async (tx) => {
      const found = await counter.correct(tx, id);
      if (found) {
        const details = { counter: counter.name, from: found.stored, to: found.counted };
        await this.audit.record(tx, 'counters.fixed', id, change, details);
      }
      return found;
    });
  }
}
