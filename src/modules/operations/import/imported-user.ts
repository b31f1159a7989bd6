import { InvalidValue } from '../../../platform/operator-input.js';
import { isBlank } from '../../../platform/text.js';
import { parsePhone } from '../../users/phone-number.js';
import type { User } from '../../users/user.entity.js';
import { PHONE_REQUIREMENT, fieldParsers } from '../../users/user-fields.js';
import { changedFields, type NewUser } from '../../users/users.service.js';
import { type FileRecord, REQUIRED_COLUMNS, type Values } from './import-file.js';

/** The fields of a line. Absent fields are not changed. `phone` is E.164. */
export type ImportedUser = Pick<NewUser, 'phone' | 'name'> &
  Partial<Pick<NewUser, 'neighborhood' | 'photoUrl' | 'latitude' | 'longitude'>> & {
    externalId?: string;
  };

/** A line that was not imported, with the reason. */
export interface Problem {
  line: number;
  problem: string;
}

/** A valid line. */
export interface ImportLine {
  line: number;
  user: ImportedUser;
}

/** The lines in which each phone number and external id occurred first. */
export class SeenValues {
  private readonly lineOfPhone = new Map<string, number>();
  private readonly lineOfExternalId = new Map<string, number>();

  /** Records the values of the line. Returns the problem if an earlier line has one of them. */
  add({ line, user: { phone, externalId } }: ImportLine): string | undefined {
    const phoneLine = this.lineOfPhone.get(phone);
    if (phoneLine !== undefined) return `phone is already used on line ${phoneLine}.`;
    const idLine = externalId === undefined ? undefined : this.lineOfExternalId.get(externalId);
    if (idLine !== undefined) return `external_id is already used on line ${idLine}.`;
    this.lineOfPhone.set(phone, line);
    if (externalId !== undefined) this.lineOfExternalId.set(externalId, line);
    return undefined;
  }
}

export function parseRecord(record: FileRecord, seen: SeenValues): ImportLine | Problem {
  if ('problem' in record) return record;
  const { line, values } = record;
  try {
    const parsed = { line, user: parseUser(values) };
    const problem = seen.add(parsed);
    return problem === undefined ? parsed : { line, problem };
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
