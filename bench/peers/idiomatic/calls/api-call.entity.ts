import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('api_calls')
export class ApiCall {
  @PrimaryColumn({ type: 'datetime', precision: 3 })
  at: Date;

  @PrimaryColumn({ length: 40 })
  id: string;

  @Column({ name: 'client_id', length: 40 })
  clientId: string;

  @Column({ name: 'user_id', type: 'varchar', length: 40, nullable: true })
  userId: string | null;

  /** Method and pattern, such as `GET /dev/v1/posts/:id`. */
  @Column({ length: 100 })
  route: string;

  @Column({ type: 'smallint' })
  status: number;

  @Column({ name: 'duration_ms' })
  durationMs: number;

  @Column({ name: 'request_id', length: 64 })
  requestId: string;

  /** Whether the call counts towards the monthly quota. */
  @Column({ name: 'metered' })
  countsAgainstQuota: boolean;
}
