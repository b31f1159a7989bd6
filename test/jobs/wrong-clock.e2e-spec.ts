import { addMilliseconds, SECOND, DAY } from '../../src/platform/clock.js';
import { JobRun } from '../../src/platform/lifecycle/job-run.entity.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { Retention } from '../../src/modules/operations/retention.js';
import { ScheduledJobs } from '../../src/modules/operations/scheduled-jobs.service.js';
import { parseFindings, runCommand } from '../support/command-line.js';
import { databaseTime, onEachEngine } from '../support/database.js';
import { recordCalls } from '../support/fixtures.js';
import { Member } from '../support/member.js';
import { useTestApp } from '../support/test-app.js';

const JOBS = ['prune', 'quota-reset', 'usage-rollup'] as const;

onEachEngine('Jobs in a process with a wrong clock', (database) => {
  const app = useTestApp(database);
  const isSqlite = database.engine.kind === 'sqlite';

  /** Sets the clock of the machine. A probe measures it. */
  async function setClock(offsetMs: number): Promise<void> {
    app().clock.set(addMilliseconds(await databaseTime(database), offsetMs).toISOString());
    expect((await app().fetch('/readyz')).status).toBe(200);
  }

  async function runJobs(): Promise<void> {
    const jobs = app().service(ScheduledJobs);
    await jobs.prune();
    await jobs.closeEarlierMonths();
    await jobs.rollUpUsage();
  }

  async function skipped(): Promise<number> {
    const counter = app().service(Metrics).registry.getSingleMetric('jobs_skipped_total');
    const { values = [] } = (await counter?.get()) ?? {};
    expect(values.map(({ labels }) => labels.task)).toEqual([...JOBS]);
    return values.reduce((sum, { value }) => sum + value, 0);
  }

  async function skew(): Promise<number | undefined> {
    const gauge = app().service(Metrics).registry.getSingleMetric('clock_skew_seconds');
    return (await gauge?.get())?.values[0]?.value;
  }

  const { url } = database;
  const command = (...args: string[]) => runCommand(args, { DATABASE_URL: url });
  const runs = (): Promise<JobRun[]> => app().dataSource.manager.find(JobRun);
  let member: Member;
  let postId: string;

  beforeAll(() => app().databaseClock.useReal());
  beforeEach(async () => {
    await setClock(0);
    await app().dataSource.manager.clear(JobRun);
    member = await Member.join(app());
    ({ id: postId } = await member.publish());
    // Deleted, and kept for weeks.
    await member.delete(`/posts/${postId}`);
  });

  /** The deleted post, and the token of the member, still exist. */
  async function expectNothingDeleted(): Promise<void> {
    await setClock(0);
    expect((await member.get('/me')).status).toBe(200);
    const [row] = await app().dataSource.query<{ posts: number }[]>(
      'SELECT COUNT(*) AS posts FROM posts WHERE id = ?',
      [postId],
    );
    expect(Number(row?.posts)).toBe(1);
  }

  if (!isSqlite) {
    it.each([6 * SECOND, -6 * SECOND, 806 * SECOND, 400 * DAY, -400 * DAY])(
      'C150 runs no job while the clock is off by %d ms, counts each that it skips, and serves requests',
      async (offsetMs) => {
        await setClock(offsetMs);
        const before = await skipped();
        await runJobs();
        expect(await skipped()).toBe(before + JOBS.length);
        expect(await runs()).toEqual([]);
        expect(Math.abs(((await skew()) ?? 0) * SECOND - offsetMs)).toBeLessThan(2 * SECOND);
        const fresh = await Member.join(app());
        expect((await fresh.get('/me')).status).toBe(200);
        await expectNothingDeleted();
      },
    );

    it('C150 runs the jobs while the clock is off by 4 seconds', async () => {
      for (const offsetMs of [4 * SECOND, -4 * SECOND]) {
        await app().dataSource.manager.clear(JobRun);
        await setClock(offsetMs);
        await runJobs();
        expect(await runs()).toHaveLength(JOBS.length);
      }
    });

    it('C150 refuses a job by command and its preview, too', async () => {
      await setClock(400 * DAY);
      const jobs = app().service(ScheduledJobs);
      const work = () => app().service(Retention).run();
      for (const job of JOBS)
        await expect(jobs.runNow(job, { actor: 'test' }, work)).rejects.toThrow(
          /^The job did not run, because the clock of this machine is \d+\.\d s ahead of the database's: .*\(NTP\)\.$/,
        );
      await expect(jobs.previewPrune(() => undefined)).rejects.toThrow('The job did not run');
      expect(await runs()).toEqual([]);
      await expectNothingDeleted();
    });
  }

  it('C150 deletes nothing more if the clock is set ahead while prune runs', async () => {
    await recordCalls(app().dataSource, [addMilliseconds(app().clock.now(), -500 * DAY)]);
    let days = 0;
    const onDay = (): void => {
      app().clock.advance(400 * DAY);
      days += 1;
    };
    await app().service(Retention).run({ onDay });
    expect(days).toBe(1);
    await expectNothingDeleted();
  });

  /** A run that a process recorded while its clock was ahead. */
  async function recordFutureRun(): Promise<Date> {
    const future = addMilliseconds(await databaseTime(database), 400 * DAY);
    const period = future.toISOString().slice(0, 'yyyy-mm-ddThh'.length);
    await app().dataSource.manager.insert(JobRun, {
      job: 'prune',
      period,
      startedAt: future,
      finishedAt: future,
    });
    return future;
  }

  it('C150 skips jobs on SQLite while the last time of a job lies in the future, and runs them on a server', async () => {
    const future = await recordFutureRun();
    const before = await skipped();
    await runJobs();
    expect(await skipped()).toBe(before + (isSqlite ? JOBS.length : 0));
    expect(Math.abs((await skew()) ?? NaN)).toBeLessThan(2);
    for (const args of [
      ['prune'],
      ['prune', '--dry-run'],
      ['quota', 'reset'],
      ['usage', 'rollup'],
    ]) {
      const { code, stderr } = await command(...args);
      const sentence = `The job did not run, because the job prune last ran at ${future.toISOString()}, which is in the future: correct the clock of this machine, then run "devplatform doctor --fix".\n`;
      expect({ code, stderr }).toEqual(
        isSqlite ? { code: 1, stderr: sentence } : { code: 0, stderr: '' },
      );
    }
    await expectNothingDeleted();
  });

  it('fails in doctor for a job that ran in the future, and runs jobs again after doctor --fix', async () => {
    const future = await recordFutureRun();
    const failedSummary = `The job prune last ran at ${future.toISOString()}, which is in the future.`;
    const found = parseFindings(await command('doctor', '--json'));
    expect(found).toContainEqual({
      check: 'jobs',
      status: 'failed',
      summary: failedSummary,
      remedy: 'Check the clock of this machine, then run: devplatform doctor --fix',
    });
    expect(JSON.stringify(found)).not.toContain('last finished at');
    const fixed = parseFindings(await command('doctor', '--fix', '--json', '--yes'));
    expect(fixed).toContainEqual(
      expect.objectContaining({
        check: 'jobs',
        status: 'ok',
        summary: `${failedSummary} Deleted 1 records of runs in the future.`,
      }),
    );
    await setClock(0);
    const before = await skipped();
    await runJobs();
    expect(await skipped()).toBe(before);
    expect(await runs()).toHaveLength(JOBS.length);
  });
});
