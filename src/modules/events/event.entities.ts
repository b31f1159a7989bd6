import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import {
  COUNTER,
  FLAG,
  HASH,
  ID,
  JSON_TEXT,
  optional,
  text,
  TIME,
  URL_TEXT,
} from '../../platform/database/columns.js';
import type { EventType } from './event-types.js';

/** Where an app receives events. */
@Entity('webhook_endpoints')
export class WebhookEndpoint {
  @PrimaryColumn(ID)
  clientId: string;

  @Column(URL_TEXT)
  url: string;

  /** With a key that is not in the database, it gives the secret that signs the events. */
  @Column(HASH)
  secretSalt: string;

  /** That of the former secret, which signs the events, too, until `formerUntil`. */
  @Column(optional(HASH))
  formerSalt: string | null;

  @Column(optional(TIME))
  formerUntil: Date | null;

  @Column(TIME)
  createdAt: Date;

  /** Null if the endpoint is enabled. */
  @Column(optional(TIME))
  disabledAt: Date | null;

  @Column(optional(text(16)))
  disabledBy: 'operator' | 'status_410' | 'failures' | null;

  /** The first failed delivery since the last one that succeeded. */
  @Column(optional(TIME))
  failingSince: Date | null;

  /** Until when one process delivers the events of this endpoint, and the others do not. */
  @Column(optional(TIME))
  leasedUntil: Date | null;

  /** Whether the next delivery fails without a request, because the test app asked for it (`Test-Fault`). */
  @Column(FLAG)
  failsNext: boolean;
}

/**
 * An event for one app. The row is written in the transaction of the change. It has ids instead of the texts that the event shows: these
 * are read when it is sent, so that nothing is sent that was deleted or withdrawn in the meantime.
 */
@Entity('webhook_events')
@Index('ix_webhook_events_due_at', ['clientId', 'dueAt'])
@Index('ix_webhook_events_user_id', ['userId'])
@Index('ix_webhook_events_created_at', ['createdAt'])
export class WebhookEvent {
  @PrimaryColumn(ID)
  clientId: string;

  /** The `webhook-id`: the same in each attempt. */
  @PrimaryColumn(ID)
  id: string;

  @Column(text(32))
  type: EventType;

  /** The member whose access decides whether the event is sent. Null for events about the app. */
  @Column(optional(ID))
  userId: string | null;

  /** The post or comment. */
  @Column(optional(ID))
  subjectId: string | null;

  /** Further members of `data`. */
  @Column(JSON_TEXT)
  details: object;

  @Column(TIME)
  createdAt: Date;

  /** When it is sent, or sent again. Null once it has an outcome. */
  @Column(optional(TIME))
  dueAt: Date | null;

  @Column(COUNTER)
  attempts: number;

  /** The result of the last attempt: a status, or why there was none. */
  @Column(optional(text(64)))
  lastResult: string | null;

  /** `withdrawn`: not sent, because the member or the operator has ended or narrowed the access of the app. */
  @Column(optional(text(16)))
  outcome: 'delivered' | 'failed' | 'withdrawn' | null;
}
