import { InvalidArgumentError } from 'commander';
import { parsePhone } from '../../../common/phone-number.js';
import { isBlank } from '../../../common/text.js';
import { PHONE_WANTED, readers } from '../user-fields.js';
import type { NewUser } from '../users.service.js';
import { REQUIRED, type Column, type Values } from './record.js';

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
    if (error instanceof InvalidArgumentError) throw new BadLine(`${column}: ${error.message}`);
    throw error;
  }
}

/** Both are told, both are told to be nothing, or neither is told. */
function kindOf(degrees: number | null | undefined): string {
  return degrees === null ? 'nothing' : typeof degrees;
}
