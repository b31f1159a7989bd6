import { Injectable } from '@nestjs/common';
import { SECOND } from '../../common/clock.js';
import { Metrics } from '../../metrics/metrics.js';
import { registerStoredGauge } from '../../metrics/stored-gauge.js';
import { JOBS } from './job-names.js';
import { JobRunsRepository } from './job-runs.repository.js';

/** When each job ended last, in whatever process. */
@Injectable()
export class JobMetrics {
  constructor(metrics: Metrics, runs: JobRunsRepository) {
    registerStoredGauge(
      metrics.registry,
      {
        name: 'job_last_finished_timestamp_seconds',
        help: 'When the newest run of a job that was done ended, in any process.',
        labelNames: ['task'],
      },
      async () => {
        const ends = await Promise.all(JOBS.map((job) => runs.findLastFinish(job)));
        return JOBS.flatMap((job, at) => {
          const end = ends[at];
          return end ? [{ labels: { task: job }, value: end.getTime() / SECOND }] : [];
        });
      },
    );
  }
}
