import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { isDuplicateKey } from '../../../platform/database/errors.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import { isBlank } from '../../../platform/text.js';
import { parsePhone } from '../phone-number.js';
import { InvalidValue } from '../../../platform/typed-values.js';
import { PHONE_WANTED, readers } from '../user-fields.js';
import type { User } from '../user.entity.js';
import { UsersRepository } from '../users.repository.js';
import { type NewUser, newUser } from '../users.service.js';
import { type Column, type FileRecord, REQUIRED, type Values } from './import-file.js';

/** What a line tells about a user: members that it does not have are to stay as they are. `phone` is E.164. */
export type TypedUser = Pick<NewUser, 'phone' | 'name'> &
  Partial<Pick<NewUser, 'neighborhood' | 'photoUrl' | 'latitude' | 'longitude'>>;

/** A line that cannot be a user; the message says why, and names no value. */
export class BadLine extends Error {}

/** Reads a user by the rules of `user add`. @throws BadLine */
export function typedUser(values: Values): TypedUser {
  const missing = REQUIRED.find((column) => isBlank(values[column] ?? ''));
  if (missing !== undefined) throw new BadLine(`${missing}: It is required.`);
  const phone = parsePhone(values.phone ?? '');
  if (phone === undefined) throw new BadLine(`phone: It ${PHONE_WANTED}.`);
  const user: TypedUser = { phone, name: read('name', values.name ?? '') };
  const { neighborhood, photo_url: photoUrl, latitude, longitude } = values;
  if (neighborhood !== undefined) user.neighborhood = readOrNull('neighborhood', neighborhood);
  if (photoUrl !== undefined) user.photoUrl = readOrNull('photo_url', photoUrl);
  if (latitude !== undefined) user.latitude = readOrNull('latitude', latitude);
  if (longitude !== undefined) user.longitude = readOrNull('longitude', longitude);
  if (kindOf(user.latitude) !== kindOf(user.longitude))
    throw new BadLine('latitude and longitude belong together.');
  return user;
}

type Read<C extends keyof typeof readers> = ReturnType<(typeof readers)[C]>;

function readOrNull<C extends keyof typeof readers>(column: C, typed: string): Read<C> | null {
  const text = typed.trim();
  return text === '' ? null : read(column, text);
}

function read<C extends keyof typeof readers>(column: C & Column, typed: string): Read<C> {
  try {
    return readers[column](typed) as Read<C>;
  } catch (error) {
    if (error instanceof InvalidValue) throw new BadLine(`${column}: ${error.message}`);
    throw error;
  }
}

/** Both are told, both are told to be nothing, or neither is told. */
function kindOf(degrees: number | null | undefined): string {
  return degrees === null ? 'nothing' : typeof degrees;
}

/** Who imports the same users at the same time is ahead at most so often. */
const ATTEMPTS = 5;

/** A line that was not imported, and why. */
export interface Problem {
  line: number;
  problem: string;
}

/** What became of users. */
export interface Imported {
  added: number;
  updated: number;
  unchanged: number;
}

/** How an import went, or how far it is. */
export interface ImportReport extends Imported {
  /** Lines that were read, the header not among them. */
  lines: number;
  bad: number;
}

interface ImportSettings {
  change: Change;
  /** Checks everything and writes nothing. */
  dryRun: boolean;
  /** Told after every batch. */
  onProgress: (report: ImportReport) => void;
  onProblem: (problem: Problem) => void;
}

/**
 * Brings the users of a file into the database: one who is not there is added, one whose phone is there gets what the file
 * tells otherwise. Each batch is a unit of its own, so an import that was stopped has imported what it came to, and the next
 * one finds that unchanged.
 */
@Injectable()
export class UserImport {
  constructor(
    private readonly users: UsersRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  async run(
    batches: AsyncIterable<FileRecord[]>,
    { change, dryRun, onProgress, onProblem }: ImportSettings,
  ): Promise<ImportReport> {
    const lineOf = new Map<string, number>();
    const report = { lines: 0, added: 0, updated: 0, unchanged: 0, bad: 0 };
    for await (const records of batches) {
      const typed = records.flatMap((record) => {
        const user = readUser(record, lineOf);
        if (!('problem' in user)) return [user];
        onProblem(user);
        report.bad += 1;
        return [];
      });
      const { added, updated, unchanged } = await this.import(typed, change, dryRun);
      report.lines += records.length;
      report.added += added;
      report.updated += updated;
      report.unchanged += unchanged;
      onProgress(report);
    }
    return report;
  }

  /** Only those who are new or differ are held and written. */
  private async import(typed: TypedUser[], change: Change, dryRun: boolean): Promise<Imported> {
    const known = byPhone(await this.users.findByPhones(typed.map(({ phone }) => phone)));
    const wanted = typed.filter((user) => isNews(user, known.get(user.phone)));
    const added = wanted.filter(({ phone }) => !known.has(phone)).length;
    const unchanged = typed.length - wanted.length;
    if (wanted.length === 0 || dryRun) return { added, updated: wanted.length - added, unchanged };
    const written = await this.write(wanted, change);
    return { ...written, unchanged: written.unchanged + unchanged };
  }

  private async write(typed: readonly TypedUser[], change: Change): Promise<Imported> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.transactions.run((tx) => this.writeIn(tx, typed, change));
      } catch (error) {
        // Somebody else added one of them meanwhile, who is found the next time.
        if (!isDuplicateKey(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** At most five statements, however many users they are. */
  private async writeIn(
    tx: Transaction,
    typed: readonly TypedUser[],
    change: Change,
  ): Promise<Imported> {
    const now = this.clock.now();
    const known = byPhone(
      await this.users.lockByPhones(
        tx,
        typed.map(({ phone }) => phone),
      ),
    );
    const added = typed.filter(({ phone }) => !known.has(phone));
    const updated = typed.flatMap((user) => {
      const before = known.get(user.phone);
      return before && isNews(user, before) ? [Object.assign(before, user)] : [];
    });
    const counts = {
      added: added.length,
      updated: updated.length,
      unchanged: typed.length - added.length - updated.length,
    };
    if (added.length > 0)
      await this.users.insertAll(
        tx,
        added.map((user) => newUser(user, now)),
      );
    await this.users.updateAll(tx, updated);
    if (counts.added + counts.updated > 0)
      await this.audit.record(tx, 'user.imported', 'users', change, counts);
    return counts;
  }
}

/** The user of a line; `lineOf` has the line of each phone so far, and gets this one's. */
function readUser(record: FileRecord, lineOf: Map<string, number>): TypedUser | Problem {
  if ('problem' in record) return record;
  const { line, values } = record;
  try {
    const user = typedUser(values);
    const before = lineOf.get(user.phone);
    if (before !== undefined)
      return { line, problem: `phone: It is the same as on line ${before}.` };
    lineOf.set(user.phone, line);
    return user;
  } catch (error) {
    if (error instanceof BadLine) return { line, problem: error.message };
    throw error;
  }
}

function byPhone(users: readonly User[]): ReadonlyMap<string, User> {
  return new Map(users.map((user) => [user.phone, user]));
}

/** Whether something of `typed` is not so yet. */
function isNews(typed: TypedUser, user: User | undefined): boolean {
  if (!user) return true;
  return (Object.keys(typed) as (keyof TypedUser)[]).some((name) => typed[name] !== user[name]);
}
