import type { User } from '../../modules/users/user.entity.js';
import type { Result } from '../command.js';
import type { Session } from '../session.js';
import { keyValues } from '../tables.js';

/** The members of `userJson`. */
export const USER_MEMBERS =
  'id, external_id, phone, name, neighborhood, photo_url, latitude, longitude, status, created_at';

export function userJson(user: User, phone: string | null): Record<string, unknown> {
  const { id, externalId, name, neighborhood, photoUrl, latitude, longitude, status, createdAt } =
    user;
  return {
    id,
    external_id: externalId,
    phone,
    name,
    neighborhood,
    photo_url: photoUrl,
    latitude,
    longitude,
    status,
    created_at: createdAt.toISOString(),
  };
}

/** The members that `user show` prints. @param full whether the phone number is not masked */
export async function shownUser(user: User, full: boolean): Promise<Record<string, unknown>> {
  return { ...userJson(user, await shownPhone(user, full)), posts: user.postCount };
}

/** Null if the user has no phone number. @param full whether the phone number is not masked */
async function shownPhone({ phone }: User, full: boolean): Promise<string | null> {
  if (full || phone === null) return phone;
  const { maskPhone } = await import('../../modules/users/phone-number.js');
  return maskPhone(phone);
}

export async function userResult(session: Session, user: User, full = false): Promise<Result> {
  const json = await shownUser(user, full);
  return { json, text: keyValues({ ...json, created_at: session.time(user.createdAt) }) };
}
