import { Column, Entity, PrimaryColumn } from 'typeorm';
import { optional, text, TIME } from '../database/columns.js';

/** One run of a job for one period. The process that inserts the row runs the job. */
@Entity('job_runs')
export class JobRun {
  @PrimaryColumn(text(40))
  job: string;

  /** Such as the hour `2026-11-21T09`; a month in rows of `quota-reset` that 1.1 wrote. */
  @PrimaryColumn(text(40))
  period: string;

  @Column(TIME)
  startedAt: Date;

  @Column(optional(TIME))
  finishedAt: Date | null;
}
