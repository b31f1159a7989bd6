import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, JSON_TEXT, optional, text, TIME } from '../database/columns.js';

/** A security-relevant event, such as a consent, a rejected request or a change by an operator. Never contains secrets. */
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

  /** The id of the object that the event is about, or a name such as `database`. */
  @Column(text(100))
  subject: string;

  /** The app of the event. This column and `userId` are indexed, to find the events of an app or a user. */
  @Column(optional(ID))
  clientId: string | null;

  @Column(optional(ID))
  userId: string | null;

  @Column(optional(text(500)))
  reason: string | null;

  /** Null for jobs and commands, as is `address`. */
  @Column(optional(text(64)))
  requestId: string | null;

  @Column(optional(text(45)))
  address: string | null;

  @Column(JSON_TEXT)
  details: Record<string, unknown>;
}
