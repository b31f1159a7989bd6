import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { Migrator } from '../../platform/database/migrations/migrator.js';
import type { Release } from '../../platform/database/migrations/releases.js';
import { TransactionRunner } from '../../platform/database/transaction.js';

/** Migrates the schema, with audit events. */
@Injectable()
export class AuditedMigrator {
  constructor(
    private readonly migrator: Migrator,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
  ) {}

  /** @returns the names of the migrations that were pending */
  async run(change: Change): Promise<string[]> {
    const applied = await this.migrator.migrate();
    if (applied.length > 0)
      await this.transactions.run((tx) =>
        this.audit.record(tx, 'db.migrated', 'database', change, { applied }),
      );
    return applied;
  }

  /** Reverts the migrations that are newer than `release`. @returns their names, newest first. @throws SchemaIsNewer */
  revert(release: Release, change: Change): Promise<string[]> {
    return this.migrator.revert(release, (tx, undone) =>
      this.audit.recordOnAnySchema(
        tx,
        this.audit.event('db.reverted', 'database', change, { release, undone }),
      ),
    );
  }
}
