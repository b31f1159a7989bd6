import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ID, LIST, optional, text, TIME } from '../database/columns.js';

/** Something that changed who may do what: by whom, to what, why, when. Never a secret. */
@Entity('audit_events')
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
