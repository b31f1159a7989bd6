import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { FLAG, ID, INTEGER, optional, text, TIME } from '../../database/columns.js';

/** One recorded developer API call (source document, section 8). Rows are only ever added. */
@Entity('api_calls')
@Index('ix_api_calls_user_id', ['userId', 'at'])
export class ApiCall {
  @PrimaryColumn(TIME)
  at: Date;

  @PrimaryColumn(ID)
  id: string;

  @Column(ID)
  clientId: string;

  /** Null once the user is erased. */
  @Column(optional(ID))
  userId: string | null;

  /** Method and route pattern, such as `POST /dev/v1/posts`. */
  @Column(text(100))
  route: string;

  /** Of the answer; 499 when the client left before it. */
  @Column({ type: 'smallint' })
  status: number;

  @Column(INTEGER)
  durationMs: number;

  @Column(text(64))
  requestId: string;

  /** Whether it cost one of the month's posts. The answer of a publish that is only told again did not. */
  @Column(FLAG)
  metered: boolean;
}
