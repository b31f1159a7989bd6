import { Exclude, Expose } from 'class-transformer';
import type { User } from './user.entity.js';

/** The profile of a user as apps see it. */
@Exclude()
export class ProfileDto {
  @Expose()
  id: string;

  @Expose()
  name: string;

  @Expose()
  photoUrl: string | null;

  @Expose()
  karma: number;

  @Expose()
  neighborhood: string | null;

  constructor(user: User) {
    Object.assign(this, user);
  }
}
