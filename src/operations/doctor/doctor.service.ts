import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.repository.js';
import { Migrator } from '../../database/migrator.js';
import { TransactionRunner } from '../../database/transaction.js';
import { CommentsService } from '../../modules/comments/comments.service.js';
import { PostsService } from '../../modules/posts/posts.service.js';
import { warning, type Check } from './check.js';
import { ClockCheck } from './clock.check.js';
import { CounterCheck } from './counters.check.js';
import { DatabaseServerCheck } from './database-server.check.js';
import { DatabaseSettingsCheck } from './database-settings.check.js';
import { examine, type Manner, type NamedFinding } from './examination.js';
import { JobsCheck } from './jobs.check.js';
import { MigrationsCheck } from './migrations.check.js';
import { PermissionsCheck } from './permissions.check.js';
import { QuotaCheck } from './quota.check.js';

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
