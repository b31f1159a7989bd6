import { Exclude, Expose } from 'class-transformer';
import type { User } from './user.entity.js';

/** What a user's apps see of them. */
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
