import { addMilliseconds, MINUTE, HOUR, DAY } from '../../src/platform/clock.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { ApiCall, ApiUsageDaily, QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { QuotaService } from '../../src/modules/quota/quota.service.js';
import { JobRun } from '../../src/platform/lifecycle/job-run.entity.js';
import { ScheduledJobs } from '../../src/modules/operations/scheduled-jobs.service.js';
import { onOneEngine } from '../support/database.js';
import { deleteAllRows, recordCalls } from '../support/fixtures.js';
import { skipCounterCheck } from '../support/invariants.js';
import { type TestApp, useTestApp } from '../support/test-app.js';

interface JobUnderTest {
  name: string;
  run(jobs: ScheduledJobs): Promise<void>;
  /** The period that contains 2026-12-01T00:00Z. */
  period: string;
  intervalMs: number;
  /** Adds rows for the job to process. */
  arrange(app: TestApp): Promise<void>;
  /** Whether the job processed each row once. */
  isDone(app: TestApp): Promise<boolean>;
}

const JOBS: JobUnderTest[] = [
  {
    name: 'prune',
    run: (jobs) => jobs.prune(),
    period: '2026-12-01T00',
    intervalMs: HOUR,
    arrange: (app) => recordCalls(app.dataSource, [addMilliseconds(app.clock.now(), -500 * DAY)]),
    isDone: async ({ dataSource: { manager } }) => {
      const totals = await manager.find(ApiUsageDaily);
      return (await manager.count(ApiCall)) === 0 && totals.every(({ calls }) => calls === 1);
    },
  },
  {
    // Closes earlier months; resets no counter.
    name: 'quota-reset',
    run: (jobs) => jobs.closeEarlierMonths(),
    period: '2026-12-01T00',
    intervalMs: HOUR,
    arrange: async (app) => {
      await app.dataSource.manager.insert(QuotaUsage, {
        clientId: 'svc_app_x',
        period: '2026-11',
        used: 7,
      });
    },
    isDone: async ({ dataSource: { manager } }) => {
      const last = await manager.findOneByOrFail(QuotaUsage, { period: '2026-11' });
      return last.used === 7 && last.closedAt !== null;
    },
  },
  {
    name: 'usage-rollup',
    run: (jobs) => jobs.rollUpUsage(),
    period: '2026-12-01T00:00',
    intervalMs: 10 * MINUTE,
    arrange: (app) => recordCalls(app.dataSource, [addMilliseconds(app.clock.now(), -DAY)]),
    isDone: async ({ dataSource: { manager } }) => {
      const totals = await manager.find(ApiUsageDaily);
      return totals.length === 1 && totals[0]?.calls === 1;
    },
  },
];

onOneEngine('Scheduled jobs', (database) => {
  // The tests insert used quota without posts.
  skipCounterCheck(database);
  const firstApp = useTestApp(database);
  const secondApp = useTestApp(database);

  // In one process, two connections to one SQLite file block each other until the busy timeout. On SQLite, the first app therefore
  // stands for both.
  const apps = () =>
    database.engine.kind === 'sqlite' ? [firstApp(), firstApp()] : [firstApp(), secondApp()];
  const manager = () => firstApp().dataSource.manager;
  const runsOf = (job: JobUnderTest) => manager().findBy(JobRun, { job: job.name });
  const run = (job: JobUnderTest, app: TestApp) => job.run(app.service(ScheduledJobs));

  function setClocks(time: Date | string): void {
    for (const app of [firstApp(), secondApp()]) app.clock.set(new Date(time).toISOString());
  }

  beforeEach(async () => {
    setClocks('2026-12-01T00:00:00.000Z');
    await deleteAllRows(firstApp().dataSource);
  });

  /** Claims the job like a process that is killed before the end of its run. */
  const claim = (job: JobUnderTest): Promise<unknown> =>
    manager().insert(JobRun, {
      job: job.name,
      period: job.period,
      startedAt: firstApp().clock.now(),
      finishedAt: null,
    });

  describe.each(JOBS)('$name', (job) => {
    it('runs on time, and does its work once when it runs twice', async () => {
      await job.arrange(firstApp());
      await run(job, firstApp());
      await run(job, firstApp());
      expect(await job.isDone(firstApp())).toBe(true);
      expect(await runsOf(job)).toEqual([
        {
          job: job.name,
          period: job.period,
          startedAt: firstApp().clock.now(),
          finishedAt: firstApp().clock.now(),
        },
      ]);
    });

    it('does its work once when it runs in two processes at the same time', async () => {
      await job.arrange(firstApp());
      await Promise.all(apps().map((app) => run(job, app)));
      expect(await job.isDone(firstApp())).toBe(true);
      expect(await runsOf(job)).toHaveLength(1);
    });

    it('does the work of earlier periods in its first run', async () => {
      await job.arrange(firstApp());
      setClocks(addMilliseconds(firstApp().clock.now(), 2 * job.intervalMs));
      await run(job, firstApp());
      await run(job, secondApp());
      expect(await job.isDone(firstApp())).toBe(true);
    });

    it('does not run while another process runs it', async () => {
      await job.arrange(firstApp());
      await claim(job);
      firstApp().clock.advance(1000);
      await run(job, firstApp());
      expect(await job.isDone(firstApp())).toBe(false);
      expect(await runsOf(job)).toMatchObject([{ finishedAt: null }]);
    });

    it('runs again in one process in the period after that in which its process was killed', async () => {
      await job.arrange(firstApp());
      await claim(job);
      setClocks(addMilliseconds(firstApp().clock.now(), job.intervalMs));
      await Promise.all(apps().map((app) => run(job, app)));
      expect(await job.isDone(firstApp())).toBe(true);
      expect((await runsOf(job)).filter(({ finishedAt }) => finishedAt !== null)).toHaveLength(1);
    });

    it('exports its number of runs, and the end of its last run in every process', async () => {
      await run(job, firstApp());
      const counted = await firstApp()
        .service(Metrics)
        .registry.getSingleMetricAsString('job_runs_total');
      expect(counted).toMatch(
        new RegExp(`^job_runs_total\\{task="${job.name}",outcome="done"\\} [1-9]`, 'm'),
      );
      const seconds = firstApp().clock.now().getTime() / 1000;
      for (const app of [firstApp(), secondApp()])
        expect(
          await app
            .service(Metrics)
            .registry.getSingleMetricAsString('job_last_finished_timestamp_seconds'),
        ).toContain(`job_last_finished_timestamp_seconds{task="${job.name}"} ${seconds}`);
    });
  });

  it('count a failed run and release its period', async () => {
    const { dataSource } = firstApp();
    await dataSource.query('ALTER TABLE api_calls RENAME TO api_calls_away');
    await firstApp().service(ScheduledJobs).rollUpUsage();
    await dataSource.query('ALTER TABLE api_calls_away RENAME TO api_calls');
    expect(await manager().count(JobRun)).toBe(0);
    const counted = await firstApp()
      .service(Metrics)
      .registry.getSingleMetricAsString('job_runs_total');
    expect(counted).toMatch(/^job_runs_total\{task="usage-rollup",outcome="failed"\} 1$/m);
  });

  it('close a month again for a post that was counted after the first run, with the plan of that month', async () => {
    const jobs = firstApp().service(ScheduledJobs);
    const { clientId } = await firstApp().addClient();
    const month = { clientId, period: '2026-11' };
    await jobs.closeEarlierMonths();
    await manager().insert(QuotaUsage, { ...month, used: 1 });
    await firstApp().service(QuotaService).set(clientId, { limit: 7 }, { actor: 'test' });
    expect(await manager().findOneBy(QuotaUsage, month)).toMatchObject({
      closedPlan: 'default',
      closedLimit: 100,
      closedAt: firstApp().clock.now(),
    });
    await manager().update(QuotaUsage, month, { closedAt: null });
    setClocks(addMilliseconds(firstApp().clock.now(), HOUR));
    await jobs.closeEarlierMonths();
    expect(await manager().findOneBy(QuotaUsage, month)).toMatchObject({ closedLimit: 7 });
  });

  it('delete the records of runs after 90 days', async () => {
    const ended = new Date('2026-12-01T00:00:00.000Z');
    const runs = [
      ['prune', '2026-09-01T23'],
      ['prune', '2026-09-02T00'],
      ['usage-rollup', '2026-09-01T23:50'],
      ['usage-rollup', '2026-09-02T00:00'],
      ['quota-reset', '2026-08'],
      ['quota-reset', '2026-12-01T00'],
    ];
    await manager().insert(
      JobRun,
      runs.map(([job, period]) => ({ job, period, startedAt: ended, finishedAt: ended })),
    );
    await firstApp().service(ScheduledJobs).prune();
    const left = await manager().find(JobRun, { order: { job: 'ASC', period: 'ASC' } });
    expect(left.map(({ period }) => period)).toEqual([
      '2026-09-02T00',
      '2026-12-01T00',
      '2026-12-01T00',
      '2026-09-02T00:00',
    ]);
  });
});
