import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, LIST, optional, text, TIME } from '../database/columns.js';

/** A change of access rights. Never contains secrets. */
@Entity('audit_events')
@Index('ix_audit_events_client_id', ['clientId', 'at'])
@Index('ix_audit_events_user_id', ['userId', 'at'])
export class AuditEvent {
  @PrimaryColumn(TIME)
  at: Date;

  @PrimaryColumn(ID)
  id: string;

  /** Such as `app.created`. */
  @Column(text(64))
  action: string;

  @Column(text(100))
  actor: string;

  /** The id of the changed object. */
  @Column(text(100))
  subject: string;

  /** Indexed, to find the events of an app or a user. */
  @Column(optional(ID))
  clientId: string | null;

  @Column(optional(ID))
  userId: string | null;

  @Column(optional(text(500)))
  reason: string | null;

  /** Null for jobs and commands, like `address`. */
  @Column(optional(text(64)))
  requestId: string | null;

  @Column(optional(text(45)))
  address: string | null;

  @Column(LIST)
  details: Record<string, unknown>;
}
