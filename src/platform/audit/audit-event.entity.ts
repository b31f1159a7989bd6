import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, LIST, optional, text, TIME } from '../database/columns.js';

/** Something that changed who may do what: by whom, to what, why, when. Never a secret. */
@Entity('audit_events')
@Index('ix_audit_events_client_id', ['clientId', 'at'])
@Index('ix_audit_events_user_id', ['userId', 'at'])
export class AuditEvent {
  @PrimaryColumn(TIME)
  at: Date;

  @PrimaryColumn(ID)
  id: string;

  /** What happened, such as `app.created`. */
  @Column(text(64))
  action: string;

  /** The operator, or the service itself. */
  @Column(text(100))
  actor: string;

  /** The id of what was changed. */
  @Column(text(100))
  subject: string;

  /** The app and the user that it is about, so that their events can be found. */
  @Column(optional(ID))
  clientId: string | null;

  @Column(optional(ID))
  userId: string | null;

  @Column(optional(text(500)))
  reason: string | null;

  /** The request that did it, and where it came from; null for what no request did. */
  @Column(optional(text(64)))
  requestId: string | null;

  @Column(optional(text(45)))
  address: string | null;

  @Column(LIST)
  details: Record<string, unknown>;
}
