import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import {
  COUNTER,
  DOUBLE,
  HASH,
  ID,
  optional,
  text,
  TIME,
  URL_TEXT,
} from '../../platform/database/columns.js';

/** A user of the neighbourhood network (product requirements, section 2). */
@Entity('users')
@Index('ux_users_phone', ['phone'], { unique: true })
@Index('ux_users_external_id', ['externalId'], { unique: true })
export class User {
  @PrimaryColumn(ID)
  id: string;

  @Column(text(16))
  status: 'active' | 'blocked';

  /** The id of the member in the network. Null if the operator did not give one. */
  @Column(optional(text(128)))
  externalId: string | null;

  /** E.164. Null after the number was reassigned to another person. Then the user cannot sign in. */
  @Column(optional(text(16)))
  phone: string | null;

  @Column(text(200))
  name: string;

  @Column(optional(URL_TEXT))
  photoUrl: string | null;

  @Column(COUNTER)
  karma: number;

  @Column(optional(text(200)))
  neighborhood: string | null;

  @Column(optional(DOUBLE))
  latitude: number | null;

  @Column(optional(DOUBLE))
  longitude: number | null;

  /** Number of posts that are not deleted. Updated in the transaction that publishes, deletes or restores a post. */
  @Column(COUNTER)
  postCount: number;

  /** The keyed hash of the fixed code of a test member. Null for real members. */
  @Column(optional(HASH))
  testCodeHash: string | null;

  @Column(TIME)
  createdAt: Date;
}
