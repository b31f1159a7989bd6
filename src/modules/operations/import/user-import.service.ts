import { Injectable } from '@nestjs/common';
import {
  AuditLog,
  type Change,
  type NewAuditEvent,
} from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { isDuplicateKey } from '../../../platform/database/errors.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import { UserAccess } from '../../oauth/account/user-access.service.js';
import type { User } from '../../users/user.entity.js';
import { newUser } from '../../users/users.service.js';
import type { FileRecord } from './import-file.js';
import {
  decide,
  parseRecord,
  SeenValues,
  type Decision,
  type ImportLine,
  type Problem,
} from './imported-user.js';
import { ImportedUsersRepository } from './imported-users.repository.js';

/** An attempt to write a batch fails if another process adds one of its users at the same time. */
const MAX_WRITE_ATTEMPTS = 5;

export interface ImportReport {
  added: number;
  updated: number;
  unchanged: number;
  /** Lines read, without the header and blank lines. */
  lines: number;
  invalid: number;
}

interface ImportSettings {
  change: Change;
  /** Checks everything and writes nothing. */
  dryRun: boolean;
  /** Whether a phone number may move from one person to another. */
  reassignPhones: boolean;
  /** Called after every batch with the counts so far. */
  onProgress: (report: ImportReport) => void;
  onProblem: (problem: Problem) => void;
}

type DecidedLine = ImportLine & {
  decision: Decision;
  /** Whether the phone number was changed. */
  isDone?: boolean;
};

/**
 * Adds and updates users from a file. Each batch is a transaction of its own, so that an interrupted import can be repeated. A line
 * that changes a phone number ends all access of the user, so it is a transaction of its own, after its batch.
 */
@Injectable()
export class UserImport {
  constructor(
    private readonly users: ImportedUsersRepository,
    private readonly access: UserAccess,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  async run(batches: AsyncIterable<FileRecord[]>, settings: ImportSettings): Promise<ImportReport> {
    const seen = new SeenValues();
    const report = { lines: 0, added: 0, updated: 0, unchanged: 0, invalid: 0 };
    const reject = (problem: Problem): void => {
      settings.onProblem(problem);
      report.invalid += 1;
    };
    for await (const records of batches) {
      const lines = records.flatMap((record) => {
        const parsed = parseRecord(record, seen);
        if (!('problem' in parsed)) return [parsed];
        reject(parsed);
        return [];
      });
      for (const { line, decision } of await this.import(lines, settings)) {
        if (decision.outcome === 'refuse') reject({ line, problem: decision.problem });
        else report[countedAs(decision)] += 1;
      }
      report.lines += records.length;
      settings.onProgress(report);
    }
    return report;
  }

  /** Returns what was done with each line. A dry run decides by what is stored now. */
  private async import(
    lines: readonly ImportLine[],
    { change, dryRun, reassignPhones }: ImportSettings,
  ): Promise<DecidedLine[]> {
    const decided = await this.decideAll(lines, reassignPhones);
    if (dryRun) return decided;
    const written = await this.writeAll(
      decided.filter(({ decision }) => isWritten(decision)),
      change,
    );
    const results = [...written, ...decided.filter(({ decision }) => !isWritten(decision))];
    // Twice, because a line may need the phone number that a later line gives up.
    for (let pass = 1; pass <= 2; pass += 1)
      for (const [index, line] of results.entries())
        if (isSeparate(line.decision) && !line.isDone)
          results[index] = await this.writeSeparately(line, change, reassignPhones);
    return results;
  }

  /** Reads the stored users of these lines, and decides what each line does. */
  private async decideAll(
    lines: readonly ImportLine[],
    mayReassign: boolean,
    tx?: Transaction,
  ): Promise<DecidedLine[]> {
    const stored = await this.users.find(phonesOf(lines), externalIdsOf(lines), tx);
    const byPhone = new Map(stored.map((user) => [user.phone, user]));
    const byExternalId = new Map(stored.map((user) => [user.externalId, user]));
    return lines.map((line) => {
      const { phone, externalId } = line.user;
      const candidates = [byPhone.get(phone), byExternalId.get(externalId ?? null)];
      const known = candidates.filter((user): user is User => user !== undefined);
      return { ...line, decision: decide(line.user, known, mayReassign) };
    });
  }

  /** Adds and updates users in one transaction. */
  private async writeAll(lines: readonly DecidedLine[], change: Change): Promise<DecidedLine[]> {
    if (lines.length === 0) return [];
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.transactions.run((tx) => this.write(tx, lines, change));
      } catch (error) {
        // Another process added one of these users. The next attempt updates this user.
        if (!isDuplicateKey(error) || attempt === MAX_WRITE_ATTEMPTS) throw error;
      }
    }
  }

  /** Runs a fixed number of statements, regardless of the number of users. */
  private async write(
    tx: Transaction,
    lines: readonly DecidedLine[],
    change: Change,
  ): Promise<DecidedLine[]> {
    const now = this.clock.now();
    await this.users.lock(tx, phonesOf(lines), externalIdsOf(lines));
    // Decides again, because other processes may have changed the users in the meantime.
    const decided = await this.decideAll(lines, false, tx);
    const added: User[] = [];
    const updated: User[] = [];
    const events: NewAuditEvent[] = [];
    for (const { user, decision } of decided) {
      if (decision.outcome === 'add') {
        const row = newUser(user, now);
        added.push(row);
        events.push(this.audit.event('user.added', row.id, change));
      } else if (decision.outcome === 'update' && decision.fields.length > 0) {
        const { user: stored, fields } = decision;
        updated.push(Object.assign(stored, user));
        events.push(this.audit.event('user.updated', stored.id, change, { fields }));
      }
    }
    await this.users.insertAll(tx, added);
    await this.users.updateAll(tx, updated);
    await this.audit.insertAll(tx, events);
    return decided;
  }

  /** Decides again, and moves the phone number of the line. */
  private async writeSeparately(
    line: ImportLine,
    change: Change,
    mayReassign: boolean,
  ): Promise<DecidedLine> {
    const [decided] = (await this.decideAll([line], mayReassign)) as [DecidedLine];
    const { decision } = decided;
    if (decision.outcome === 'refuse') return decided;
    if (decision.outcome !== 'change_phone') {
      const [written] = (await this.writeAll([decided], change)) as [DecidedLine];
      // Another process gave or took the phone number in the meantime.
      return written.decision.outcome === 'change_phone'
        ? this.writeSeparately(line, change, mayReassign)
        : written;
    }
    const { phone, ...values } = line.user;
    if (decision.user)
      await this.access.changePhone(decision.user.id, phone, change, {
        reassign: mayReassign,
        values,
      });
    else await this.access.addWithReassignedPhone(newUser(line.user, this.clock.now()), change);
    return { ...decided, isDone: true };
  }
}

function phonesOf(lines: readonly ImportLine[]): string[] {
  return lines.map(({ user }) => user.phone);
}

function externalIdsOf(lines: readonly ImportLine[]): string[] {
  return lines.flatMap(({ user }) => user.externalId ?? []);
}

/** Whether the batch writes the line. */
function isWritten(decision: Decision): boolean {
  return (
    decision.outcome === 'add' || (decision.outcome === 'update' && decision.fields.length > 0)
  );
}

/** Whether the line waits for the others. A refused line does, too: another line may give up the phone number that it needs. */
function isSeparate({ outcome }: Decision): boolean {
  return outcome === 'change_phone' || outcome === 'refuse';
}

function countedAs(decision: Decision): 'added' | 'updated' | 'unchanged' {
  switch (decision.outcome) {
    case 'add':
      return 'added';
    case 'update':
      return decision.fields.length > 0 ? 'updated' : 'unchanged';
    case 'change_phone':
      return decision.user ? 'updated' : 'added';
    case 'refuse':
      return 'unchanged';
  }
}
