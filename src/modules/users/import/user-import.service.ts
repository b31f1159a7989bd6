import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { isDuplicateKey } from '../../../platform/database/errors.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import { isBlank } from '../../../platform/text.js';
import { InvalidValue } from '../../../platform/operator-input.js';
import { parsePhone } from '../phone-number.js';
import { PHONE_REQUIREMENT, fieldParsers } from '../user-fields.js';
import type { User } from '../user.entity.js';
import { UsersRepository } from '../users.repository.js';
import { type NewUser, newUser } from '../users.service.js';
import { type FileRecord, REQUIRED_COLUMNS, type Values } from './import-file.js';

/** The fields of a line. Absent fields are not changed. `phone` is E.164. */
type ImportedUser = Pick<NewUser, 'phone' | 'name'> &
  Partial<Pick<NewUser, 'neighborhood' | 'photoUrl' | 'latitude' | 'longitude'>>;

/** An attempt to write a batch fails if another process adds one of its users at the same time. */
const MAX_WRITE_ATTEMPTS = 5;

/** A line that was not imported, with the reason. */
export interface Problem {
  line: number;
  problem: string;
}

interface WriteCounts {
  added: number;
  updated: number;
}

export interface ImportReport extends WriteCounts {
  unchanged: number;
  /** Lines read, without the header and blank lines. */
  lines: number;
  invalid: number;
}

interface ImportSettings {
  change: Change;
  /** Checks everything and writes nothing. */
  dryRun: boolean;
  /** Called after every batch with the counts so far. */
  onProgress: (report: ImportReport) => void;
  onProblem: (problem: Problem) => void;
}

/**
 * Adds and updates users from a file. The phone number identifies a user. Each batch is a transaction of its own, so that an
 * interrupted import can be repeated.
 */
@Injectable()
export class UserImport {
  constructor(
    private readonly repository: UsersRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  async run(
    batches: AsyncIterable<FileRecord[]>,
    { change, dryRun, onProgress, onProblem }: ImportSettings,
  ): Promise<ImportReport> {
    const lineOfPhone = new Map<string, number>();
    const report = { lines: 0, added: 0, updated: 0, unchanged: 0, invalid: 0 };
    for await (const records of batches) {
      const users = records.flatMap((record) => {
        const parsed = parseRecord(record, lineOfPhone);
        if (!('problem' in parsed)) return [parsed];
        onProblem(parsed);
        report.invalid += 1;
        return [];
      });
      const { added, updated } = await this.import(users, change, dryRun);
      report.lines += records.length;
      report.added += added;
      report.updated += updated;
      report.unchanged += users.length - added - updated;
      onProgress(report);
    }
    return report;
  }

  /** Locks and writes only new and changed users. A dry run only counts them. */
  private async import(
    users: ImportedUser[],
    change: Change,
    dryRun: boolean,
  ): Promise<WriteCounts> {
    const stored = byPhone(await this.repository.findByPhones(users.map(({ phone }) => phone)));
    const changed = users.filter((user) => differs(user, stored.get(user.phone)));
    if (dryRun || changed.length === 0) {
      const added = changed.filter(({ phone }) => !stored.has(phone)).length;
      return { added, updated: changed.length - added };
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.transactions.run((tx) => this.write(tx, changed, change));
      } catch (error) {
        // Another process added one of these users. The next attempt updates this user.
        if (!isDuplicateKey(error) || attempt === MAX_WRITE_ATTEMPTS) throw error;
      }
    }
  }

  /** Runs at most five statements, regardless of the number of users. */
  private async write(
    tx: Transaction,
    users: readonly ImportedUser[],
    change: Change,
  ): Promise<WriteCounts> {
    const now = this.clock.now();
    const phones = users.map(({ phone }) => phone);
    const stored = byPhone(await this.repository.lockByPhones(tx, phones));
    const added = users.filter(({ phone }) => !stored.has(phone)).map((user) => newUser(user, now));
    const updated = users.flatMap((user) => {
      const before = stored.get(user.phone);
      return before && differs(user, before) ? [Object.assign(before, user)] : [];
    });
    await this.repository.insertAll(tx, added);
    await this.repository.updateAll(tx, updated);
    const counts = {
      added: added.length,
      updated: updated.length,
      unchanged: users.length - added.length - updated.length,
    };
    if (counts.added + counts.updated > 0)
      await this.audit.record(tx, 'user.imported', 'users', change, counts);
    return counts;
  }
}

/** @param lineOfPhone the line of each phone number so far; this line is added */
function parseRecord(record: FileRecord, lineOfPhone: Map<string, number>): ImportedUser | Problem {
  if ('problem' in record) return record;
  const { line, values } = record;
  try {
    const user = parseUser(values);
    const previousLine = lineOfPhone.get(user.phone);
    if (previousLine !== undefined)
      return { line, problem: `phone is already used on line ${previousLine}.` };
    lineOfPhone.set(user.phone, line);
    return user;
  } catch (error) {
    if (error instanceof InvalidValue) return { line, problem: error.message };
    throw error;
  }
}

/** Applies the rules of `user add`. @throws InvalidValue, whose message contains no personal data */
function parseUser(values: Values): ImportedUser {
  const missing = REQUIRED_COLUMNS.find((column) => isBlank(values[column] ?? ''));
  if (missing !== undefined) throw new InvalidValue(`${missing} is required.`);
  const phone = parsePhone(values.phone ?? '');
  if (phone === undefined) throw new InvalidValue(`phone ${PHONE_REQUIREMENT}.`);
  const user: ImportedUser = { phone, name: parseField('name', values.name ?? '') };
  const { neighborhood, photo_url: photoUrl, latitude, longitude } = values;
  if (neighborhood !== undefined)
    user.neighborhood = parseFieldOrNull('neighborhood', neighborhood);
  if (photoUrl !== undefined) user.photoUrl = parseFieldOrNull('photo_url', photoUrl);
  if (latitude !== undefined) user.latitude = parseFieldOrNull('latitude', latitude);
  if (longitude !== undefined) user.longitude = parseFieldOrNull('longitude', longitude);
  if (presence(user.latitude) !== presence(user.longitude))
    throw new InvalidValue('latitude and longitude must be set together.');
  return user;
}

type FieldValue<C extends keyof typeof fieldParsers> = ReturnType<(typeof fieldParsers)[C]>;

function parseFieldOrNull<C extends keyof typeof fieldParsers>(
  column: C,
  text: string,
): FieldValue<C> | null {
  const trimmed = text.trim();
  return trimmed === '' ? null : parseField(column, trimmed);
}

function parseField<C extends keyof typeof fieldParsers>(column: C, text: string): FieldValue<C> {
  try {
    return fieldParsers[column](text) as FieldValue<C>;
  } catch (error) {
    if (error instanceof InvalidValue)
      throw new InvalidValue(error.message.replace(/^It /, `${column} `));
    throw error;
  }
}

function presence(value: number | null | undefined): 'absent' | 'cleared' | 'set' {
  if (value === undefined) return 'absent';
  return value === null ? 'cleared' : 'set';
}

function byPhone(users: readonly User[]): ReadonlyMap<string, User> {
  return new Map(users.map((user) => [user.phone, user]));
}

function differs(user: ImportedUser, stored: User | undefined): boolean {
  return (
    !stored || Object.entries(user).some(([name, value]) => stored[name as keyof User] !== value)
  );
}
