import { Injectable } from '@nestjs/common';
import {
  AuditLog,
  type Change,
  type NewAuditEvent,
} from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { isDuplicateKey } from '../../../platform/database/errors.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import { InvalidRequest } from '../../../platform/errors.js';
import { UserAccess } from '../../oauth/account/user-access.service.js';
import type { User } from '../../users/user.entity.js';
import { newUser } from '../../users/users.service.js';
import type { FileRecord, Place } from './file-record.js';
import {
  decideLine,
  decideMoves,
  indexUsers,
  parseRecord,
  repeatedMembers,
  SeenValues,
  type DecidedLine,
  type Decision,
  type ImportLine,
  type Problem,
} from './imported-user.js';
import { ImportedUsersRepository } from './imported-users.repository.js';

/** An attempt to write a batch fails if another process adds one of its users at the same time. */
const MAX_WRITE_ATTEMPTS = 5;
/** Lines whose users are read by one statement. */
const MOVES_PER_STATEMENT = 500;
const NO_MEMBERS = 'The file has a header, but no members.';

export interface ImportReport {
  added: number;
  updated: number;
  unchanged: number;
  /** Lines read, without the header and blank lines. */
  lines: number;
  invalid: number;
  /** Lines with a warning. They may be imported or not. */
  doubtful: number;
}

interface ImportSettings {
  change: Change;
  /** Checks everything and writes nothing. */
  dryRun: boolean;
  /** Whether a file that may be incomplete is an error. */
  strict: boolean;
  /** Whether a phone number may move from one person to another. */
  reassignPhones: boolean;
  /** Called after every batch with the counts so far. */
  onProgress: (report: ImportReport) => void;
  onProblem: (problem: Problem) => void;
  onWarning: (warning: Problem) => void;
}

/**
 * Adds and updates users from a file. Each batch is a transaction of its own, so that an interrupted import can be repeated. A line
 * that changes a phone number ends all access of the user, so it is a transaction of its own, after all batches: then it is known which
 * lines give up a phone number, and a dry run decides the same.
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

  /** @throws InvalidRequest if `strict` and the file has no members */
  async run(batches: AsyncIterable<FileRecord[]>, settings: ImportSettings): Promise<ImportReport> {
    const { change, dryRun, reassignPhones, strict } = settings;
    const seen = new SeenValues();
    const moves: ImportLine[] = [];
    const report = { lines: 0, added: 0, updated: 0, unchanged: 0, invalid: 0, doubtful: 0 };
    const reject = (place: Place, problem: string): void => {
      settings.onProblem(problemAt(place, problem));
      report.invalid += 1;
    };
    const warn = (place: Place, problem: string): void => {
      settings.onWarning(problemAt(place, problem));
      report.doubtful += 1;
    };
    for await (const records of batches) {
      const lines = records.flatMap((record) => {
        const parsed = parseRecord(record, seen, strict);
        if ('problem' in parsed) {
          reject(parsed, parsed.problem);
          return [];
        }
        if (parsed.warning !== undefined) warn(parsed, parsed.warning);
        return [parsed];
      });
      for (const line of await this.import(lines, change, dryRun)) {
        if (isMove(line.decision)) moves.push(line);
        else report[countedAs(line.decision)] += 1;
      }
      report.lines += records.length;
      settings.onProgress(report);
    }
    const stored = await this.usersOf(moves);
    const repeated = repeatedMembers(moves, stored, seen);
    for (const [line, problem] of repeated) reject(line, problem);
    const others = moves.filter((line) => !repeated.has(line));
    for (const move of decideMoves(others, stored, reassignPhones)) {
      const line = dryRun ? move : await this.writeMove(move, change, reassignPhones);
      if (line.decision.outcome === 'refuse') reject(line, line.decision.problem);
      else report[countedAs(line.decision)] += 1;
      settings.onProgress(report);
    }
    if (report.lines === 0) {
      if (strict) throw new InvalidRequest(NO_MEMBERS);
      warn({ line: 1 }, NO_MEMBERS);
    }
    if (!dryRun)
      await this.transactions.run((tx) =>
        this.audit.record(tx, 'user.imported', 'users', change, { ...report }),
      );
    return report;
  }

  /** Writes all lines that move no phone number. Returns what was done with each line, or what remains to be done. */
  private async import(
    lines: readonly ImportLine[],
    change: Change,
    dryRun: boolean,
  ): Promise<DecidedLine[]> {
    const decided = await this.decideAll(lines, false);
    if (dryRun) return decided;
    const written = await this.writeAll(
      decided.filter(({ decision }) => isWritten(decision)),
      change,
    );
    return [...written, ...decided.filter(({ decision }) => !isWritten(decision))];
  }

  /** The stored users with a phone number or external id of these lines, perhaps repeatedly. */
  private async usersOf(lines: readonly ImportLine[]): Promise<User[]> {
    const users: User[] = [];
    for (let start = 0; start < lines.length; start += MOVES_PER_STATEMENT) {
      const part = lines.slice(start, start + MOVES_PER_STATEMENT);
      users.push(...(await this.users.find(phonesOf(part), externalIdsOf(part))));
    }
    return users;
  }

  /** Reads the stored users of these lines, and decides what each line does. */
  private async decideAll(
    lines: readonly ImportLine[],
    mayReassign: boolean,
    tx?: Transaction,
  ): Promise<DecidedLine[]> {
    const stored = await this.users.find(phonesOf(lines), externalIdsOf(lines), tx);
    const users = indexUsers(stored);
    return lines.map((line) => decideLine(line, users, mayReassign));
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
  private async writeMove(
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
        ? this.writeMove(line, change, mayReassign)
        : written;
    }
    const { phone, ...values } = line.user;
    if (decision.user)
      await this.access.changePhone(decision.user.id, phone, change, {
        reassign: mayReassign,
        values,
      });
    else await this.access.addWithReassignedPhone(newUser(line.user, this.clock.now()), change);
    return decided;
  }
}

function problemAt({ line, row }: Place, problem: string): Problem {
  return { line, ...(row !== undefined && { row }), problem };
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
function isMove({ outcome }: Decision): boolean {
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
