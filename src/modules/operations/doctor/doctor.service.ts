import { Injectable, type Provider } from '@nestjs/common';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { Migrator } from '../../../platform/database/migrations/migrator.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { CommentsService } from '../../comments/comments.service.js';
import { PostsService } from '../../posts/posts.service.js';
import { type Check, examine, type Manner, type NamedFinding, warning } from './check.js';
import { CounterCheck, JobsCheck, QuotaCheck } from './data.checks.js';
import {
  ClockCheck,
  DatabaseServerCheck,
  DatabaseSettingsCheck,
  MigrationsCheck,
  PermissionsCheck,
} from './database.checks.js';
import { WriteTrial } from './write-trial.repository.js';

/** Examines what stands on the database. */
@Injectable()
export class Doctor {
  constructor(
    private readonly server: DatabaseServerCheck,
    private readonly settings: DatabaseSettingsCheck,
    private readonly clock: ClockCheck,
    private readonly migrations: MigrationsCheck,
    private readonly permissions: PermissionsCheck,
    private readonly quota: QuotaCheck,
    private readonly jobs: JobsCheck,
    private readonly posts: PostsService,
    private readonly comments: CommentsService,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly migrator: Migrator,
  ) {}

  async examine(manner: Manner): Promise<NamedFinding[]> {
    const onAnySchema = [this.server, this.settings, this.clock, this.migrations];
    const findings = await examine(onAnySchema, manner);
    const onTables = [this.permissions, ...this.counters(), this.quota, this.jobs];
    if (await this.migrator.isCurrent()) return [...findings, ...(await examine(onTables, manner))];
    const names = [...new Set(onTables.map(({ name }) => name))].join(', ');
    const notLookedAt = warning('Not looked at while migrations are pending.');
    return [...findings, { check: names, ...notLookedAt }];
  }

  private counters(): Check[] {
    return [...this.posts.counters(), ...this.comments.counters()].map(
      (counter) => new CounterCheck(counter, this.audit, this.transactions),
    );
  }
}

/** The doctor and its checks of what stands on the database. They share what jobs and health already have. */
export const DOCTOR: Provider[] = [
  Doctor,
  DatabaseServerCheck,
  DatabaseSettingsCheck,
  ClockCheck,
  MigrationsCheck,
  WriteTrial,
  PermissionsCheck,
  QuotaCheck,
  JobsCheck,
];
