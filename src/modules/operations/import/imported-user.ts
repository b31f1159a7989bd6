import { InvalidValue } from '../../../platform/operator-input.js';
import { isBlank } from '../../../platform/text.js';
import { parsePhoneWithWarning, type PhoneWarning } from '../../users/phone-number.js';
import type { User } from '../../users/user.entity.js';
import { isTestUser } from '../../users/test-members.js';
import { PHONE_REQUIREMENT, fieldParsers } from '../../users/user-fields.js';
import { changedFields, type NewUser } from '../../users/users.service.js';
import {
  type FileRecord,
  type Place,
  placeName,
  REQUIRED_COLUMNS,
  type Values,
} from './file-record.js';

/** The fields of a line. Absent fields are not changed. `phone` is E.164. */
export type ImportedUser = Pick<NewUser, 'phone' | 'name'> &
  Partial<Pick<NewUser, 'neighborhood' | 'photoUrl' | 'latitude' | 'longitude'>> & {
    externalId?: string;
  };

/** A line that was not imported, with the reason, or a doubtful line. */
export type Problem = Place & { problem: string };

/** A valid line. */
export type ImportLine = Place & {
  user: ImportedUser;
  /** What the operator should check. */
  warning?: string;
};

const MAY_BE_CUT = 'It does not end with a line feed. Is the file complete?';
const LOST_PLUS =
  'If a spreadsheet removed the plus, format the column as text, then enter the numbers again.';
const PHONE_WARNINGS: Readonly<Record<PhoneWarning, string>> = {
  unknown: 'phone is possible, but in no known range of numbers. Check it.',
  fixed_line: 'phone is a fixed line, to which text messages may not be delivered.',
};

/** The lines in which each phone number and external id occurred first. */
export class SeenValues {
  /** The number of the line, which takes less memory than its name, or the name if it names the row, too. */
  private readonly lineOfPhone = new Map<string, number | string>();
  private readonly lineOfExternalId = new Map<string, number | string>();

  /** Records the values of the line. Returns the problem if an earlier line has one of them. */
  add({ line, row, user: { phone, externalId } }: ImportLine): string | undefined {
    const phoneLine = this.lineOfPhone.get(phone);
    if (phoneLine !== undefined) return `phone is already used on ${nameOf(phoneLine)}.`;
    const idLine = externalId === undefined ? undefined : this.lineOfExternalId.get(externalId);
    if (idLine !== undefined) return `external_id is already used on ${nameOf(idLine)}.`;
    const place = row === undefined ? line : placeName({ line, row });
    this.lineOfPhone.set(phone, place);
    if (externalId !== undefined) this.lineOfExternalId.set(externalId, place);
    return undefined;
  }

  /** The name of the line with this phone number. */
  nameOfLine(phone: string): string | undefined {
    const place = this.lineOfPhone.get(phone);
    return place === undefined ? undefined : nameOf(place);
  }
}

function nameOf(place: number | string): string {
  return typeof place === 'string' ? place : placeName({ line: place });
}

/** @param strict whether a line at which the file may end is invalid, instead of doubtful */
export function parseRecord(
  { mayBeCut, ...record }: FileRecord,
  seen: SeenValues,
  strict: boolean,
): ImportLine | Problem {
  if ('problem' in record) return record;
  const { values, ...place } = record;
  if (mayBeCut && strict) return { ...place, problem: MAY_BE_CUT };
  try {
    const { warning, ...user } = parseUser(values);
    const warnings = [mayBeCut && MAY_BE_CUT, warning && PHONE_WARNINGS[warning]].filter(Boolean);
    const parsed = { ...place, user, ...(warnings.length > 0 && { warning: warnings.join(' ') }) };
    const problem = seen.add(parsed);
    return problem === undefined ? parsed : { ...place, problem };
  } catch (error) {
    if (error instanceof InvalidValue) return { ...place, problem: error.message };
    throw error;
  }
}

/** Applies the rules of `user add`. @throws InvalidValue, whose message contains no personal data */
function parseUser(values: Values): ImportedUser & { warning?: PhoneWarning } {
  const missing = REQUIRED_COLUMNS.find((column) => isBlank(values[column] ?? ''));
  if (missing !== undefined) throw new InvalidValue(`${missing} is required.`);
  const phone = parsePhoneWithWarning(values.phone ?? '');
  if (phone === undefined) throw new InvalidValue(phoneProblem(values.phone ?? ''));
  const user: ReturnType<typeof parseUser> = {
    ...phone,
    name: parseField('name', values.name ?? ''),
  };
  const externalId = parseFieldOrNull('external_id', values.external_id ?? '');
  if (externalId !== null) user.externalId = externalId;
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

/** A spreadsheet stores `+14155550101` as the number 14155550101, and may write it as 1.42E+10. */
function phoneProblem(typed: string): string {
  const isNumber = /^\d{7,}(\.0+)?$|^\d+([.,]\d+)?e\+?\d+$/i.test(typed.trim());
  return `phone ${PHONE_REQUIREMENT}.${isNumber ? ` ${LOST_PLUS}` : ''}`;
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

/** What the import does with a line. */
export type Decision =
  | { outcome: 'add' }
  | { outcome: 'update'; user: User; fields: string[] }
  /** The user of the line, or a new one, gets a phone number that another user may have. */
  | { outcome: 'change_phone'; user: User | undefined }
  | { outcome: 'refuse'; problem: string };

export type DecidedLine = ImportLine & { decision: Decision };

/** Users by their unique values. */
export interface UserIndex {
  byPhone: Map<string | null, User>;
  byExternalId: Map<string | null, User>;
}

export function indexUsers(users: readonly User[]): UserIndex {
  return {
    byPhone: new Map(users.map((user) => [user.phone, user])),
    byExternalId: new Map(users.map((user) => [user.externalId, user])),
  };
}

export function decideLine(
  line: ImportLine,
  { byPhone, byExternalId }: UserIndex,
  mayReassign: boolean,
): DecidedLine {
  const { phone, externalId = null } = line.user;
  const candidates = [byPhone.get(phone), byExternalId.get(externalId)];
  const stored = candidates.filter((user): user is User => user !== undefined);
  return { ...line, decision: decide(line.user, stored, mayReassign) };
}

/**
 * Decides lines that need a phone number which another user has or had. Returns them in the order in which to write them: each after the
 * line that gives up its phone number, wherever that is in the file. Refused lines are the last.
 * @param stored the users that have a phone number or external id of these lines, perhaps repeatedly
 */
export function decideMoves(
  lines: readonly ImportLine[],
  stored: readonly User[],
  mayReassign: boolean,
): DecidedLine[] {
  const copies = new Map(stored.map((user) => [user.id, structuredClone(user)]));
  const users = indexUsers([...copies.values()]);
  /** By the phone number that the line needs, which no other line has. */
  const waiting = new Map(lines.map((line) => [line.user.phone, line]));
  const ordered: DecidedLine[] = [];
  const queue = [...lines];
  for (const line of queue) {
    const { phone } = line.user;
    if (!waiting.has(phone)) continue;
    const decided = decideLine(line, users, mayReassign);
    if (decided.decision.outcome === 'refuse') continue;
    waiting.delete(phone);
    ordered.push(decided);
    const freed = movePhone(users, decided);
    const next = waiting.get(freed ?? '');
    if (next) queue.push(next);
  }
  const refused = [...waiting.values()].map((line) => decideLine(line, users, mayReassign));
  return [...ordered, ...refused];
}

/**
 * Finds lines that change the phone number of a member whom another line names by the old number.
 * @param lines those that need a phone number which another user has or had, so also those that give the old number to somebody else
 * @param stored as for `decideMoves`
 * @returns the problem by line
 */
export function repeatedMembers(
  lines: readonly ImportLine[],
  stored: readonly User[],
  seen: SeenValues,
): Map<ImportLine, string> {
  const { byExternalId } = indexUsers(stored);
  const needed = new Set(lines.map(({ user }) => user.phone));
  const problems = new Map<ImportLine, string>();
  for (const line of lines) {
    const member = byExternalId.get(line.user.externalId ?? '');
    const old = member?.phone ?? null;
    const other = old === null || needed.has(old) ? undefined : seen.nameOfLine(old);
    if (other !== undefined)
      problems.set(line, `external_id is that of the member whose phone is used on ${other}.`);
  }
  return problems;
}

/** Applies a decided line to the phone numbers of `users`. Returns the phone number that is free now. */
function movePhone(
  { byPhone }: UserIndex,
  { user: { phone }, decision }: DecidedLine,
): string | null {
  if (decision.outcome !== 'change_phone') return null;
  const [owner, { user }] = [byPhone.get(phone), decision];
  if (owner) owner.phone = null;
  byPhone.delete(phone);
  const freed = user?.phone ?? null;
  byPhone.delete(freed);
  if (user) user.phone = phone;
  return freed;
}

/**
 * Decides which user a line means: the one with its external id, else the one with its phone number, if that is the same person. A
 * phone number is not proof of that, because carriers reassign numbers (NIST SP 800-63B, "Use of the Public Switched Telephone
 * Network").
 * @param stored the users that have the phone number or the external id of the line; others are ignored
 * @param mayReassign whether another person may lose the phone number
 */
export function decide(
  line: ImportedUser,
  stored: readonly User[],
  mayReassign: boolean,
): Decision {
  const owner = stored.find(({ phone }) => phone === line.phone);
  const member = stored.find(
    ({ externalId }) => externalId !== null && externalId === line.externalId,
  );
  const test = [member, owner].find((user) => user && isTestUser(user));
  if (test)
    return {
      outcome: 'refuse',
      problem: `${test === member ? 'external_id' : 'phone'} belongs to the test member ${test.id}, which an import never changes. Use "user update", "user change-phone" or "user erase".`,
    };
  const user = member ?? (owner && isSamePerson(line, owner) ? owner : undefined);
  if (user === owner)
    return user
      ? { outcome: 'update', user, fields: changedFields(line, user) }
      : { outcome: 'add' };
  if (owner === undefined || mayReassign) return { outcome: 'change_phone', user };
  return { outcome: 'refuse', problem: refusal(line, owner, member) };
}

/** Whether a line without a known external id means the user who has its phone number. */
function isSamePerson({ externalId, name }: ImportedUser, owner: User): boolean {
  const mayAdoptId = externalId === undefined || owner.externalId === null;
  return mayAdoptId && comparableName(name) === comparableName(owner.name);
}

function comparableName(name: string): string {
  return name.normalize('NFKC').replaceAll(/\s+/g, ' ').trim().toLowerCase();
}

function refusal({ externalId }: ImportedUser, owner: User, member: User | undefined): string {
  const advice = 'If the number belongs to another person now, use --reassign-phones.';
  if (member) return `external_id belongs to ${member.id}, but phone to ${owner.id}. ${advice}`;
  if (externalId !== undefined && owner.externalId !== null)
    return `phone belongs to ${owner.id}, who has another external_id. ${advice}`;
  const rename = `If it is the same person, change the name with "user update ${owner.id}".`;
  return `phone belongs to ${owner.id}, who has another name. ${rename} ${advice}`;
}
