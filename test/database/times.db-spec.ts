import type { DataSource, QueryRunner } from 'typeorm';
import { vi } from 'vitest';
import { addMilliseconds } from '../../src/platform/clock.js';
import { JobRun } from '../../src/platform/lifecycle/job-run.entity.js';
import { connectMigrated, onEachEngine } from '../support/database.js';

const SERVER_ZONE = '+05:45';
const MOMENTS = [
  ['2026-01-02T03:04:05.678Z', '2026-01-02 03:04:05.678'],
  ['2026-12-31T23:59:59.999Z', '2026-12-31 23:59:59.999'],
  ['2028-02-29T15:30:00.001Z', '2028-02-29 15:30:00.001'],
  ['2026-03-29T01:30:00.000Z', '2026-03-29 01:30:00.000'],
  ['2038-01-19T03:14:08.500Z', '2038-01-19 03:14:08.500'],
] as const;

onEachEngine('Timestamps', ({ engine, url }) => {
  let dataSource: DataSource;
  let runner: QueryRunner;
  let jobs = 0;

  beforeAll(async () => {
    vi.stubEnv('TZ', 'Asia/Tokyo');
    dataSource = await connectMigrated(url);
    // One connection for all tests, because the time zone is set per session.
    runner = dataSource.createQueryRunner();
    await runner.connect();
    if (engine.kind !== 'sqlite') await runner.query(`SET SESSION time_zone = '${SERVER_ZONE}'`);
  });

  afterAll(async () => {
    await runner.release();
    await dataSource.destroy();
    vi.unstubAllEnvs();
  });

  function newRun(startedAt: Date): JobRun {
    jobs += 1;
    const run = { job: `job-${jobs}`, period: '2026-11', startedAt, finishedAt: null };
    return Object.assign(new JobRun(), run);
  }

  async function storedText(column: 'started_at' | 'finished_at', job: string): Promise<unknown> {
    const rows: { as_text: string }[] = await runner.query(
      `SELECT CAST(${column} AS CHAR) AS as_text FROM job_runs WHERE job = ?`,
      [job],
    );
    return rows[0]?.as_text;
  }

  it('are tested with different time zones of process and server', async () => {
    const zones: unknown =
      engine.kind === 'sqlite' ? [] : await runner.query('SELECT @@session.time_zone AS zone');

    expect(new Date('2026-01-02T03:04:05Z').getHours()).toBe(12);
    expect(new Date().getTimezoneOffset()).toBe(-9 * 60);
    expect(zones).toEqual(engine.kind === 'sqlite' ? [] : [{ zone: SERVER_ZONE }]);
  });

  it.each(MOMENTS)(
    'are stored in UTC by an insert and an update, and read back: %s',
    async (moment, text) => {
      const run = newRun(new Date(moment));
      await runner.manager.insert(JobRun, run);
      const find = () => runner.manager.findOneByOrFail(JobRun, { job: run.job });
      expect(await storedText('started_at', run.job)).toBe(text);
      expect(await find()).toMatchObject({ startedAt: new Date(moment), finishedAt: null });
      await runner.manager.update(JobRun, { job: run.job }, { finishedAt: new Date(moment) });
      expect(await storedText('finished_at', run.job)).toBe(text);
      expect((await find()).finishedAt).toEqual(new Date(moment));
      // By a connection of the service, in the time zone of the server.
      const other = newRun(new Date(moment));
      await dataSource.manager.insert(JobRun, other);
      expect(await storedText('started_at', other.job)).toBe(text);
    },
  );

  it('are compared with a parameter to the millisecond', async () => {
    const moment = new Date('2026-11-21T08:00:00.500Z');
    const run = newRun(moment);
    await runner.manager.insert(JobRun, run);
    const startedBefore = (time: Date): Promise<number> =>
      runner.manager
        .createQueryBuilder(JobRun, 'run')
        .where('run.job = :job AND run.startedAt < :time', { job: run.job, time })
        .getCount();

    expect(await startedBefore(addMilliseconds(moment, -1))).toBe(0);
    expect(await startedBefore(moment)).toBe(0);
    expect(await startedBefore(addMilliseconds(moment, 1))).toBe(1);
  });

  it('are compared to the millisecond in the condition of an update', async () => {
    const moment = new Date('2026-11-21T08:00:00.500Z');
    const run = newRun(moment);
    await runner.manager.insert(JobRun, run);
    const finishIfStartedBefore = async (time: Date): Promise<number | undefined> => {
      const { affected } = await runner.manager
        .createQueryBuilder()
        .update(JobRun)
        .set({ finishedAt: time })
        .where('job = :job AND started_at < :time', { job: run.job, time })
        .execute();
      return affected;
    };

    expect(await finishIfStartedBefore(moment)).toBe(0);
    expect(await finishIfStartedBefore(addMilliseconds(moment, 1))).toBe(1);
  });
});
