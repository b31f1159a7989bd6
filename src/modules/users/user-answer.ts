import type { User } from './user.entity.js';

/** A user as `--json` tells; `phone` as it may be shown. */
export function userJson(user: User, phone: string): Record<string, unknown> {
  const { id, name, neighborhood, photoUrl, latitude, longitude, status, createdAt } = user;
  return {
    id,
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
