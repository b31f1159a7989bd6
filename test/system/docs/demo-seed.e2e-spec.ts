import { DEMO_USER_ID, demoApps, DemoService } from '../../../src/modules/demo/demo.service.js';
import { AppsService } from '../../../src/modules/oauth/clients/apps.service.js';
import { User } from '../../../src/modules/users/user.entity.js';
import { UsersService } from '../../../src/modules/users/users.service.js';
import { onOneEngine } from '../../support/database.js';
import { warningsAndErrors } from '../../support/logs.js';
import { startProcess } from '../../support/service-process.js';
import { TestApp, useTestApp } from '../../support/test-app.js';

const author = { actor: 'test' };

/** The number of apps, and of posts of the demo user. */
async function counts(app: TestApp) {
  return {
    apps: (await app.service(AppsService).list()).length,
    posts: await app.service(UsersService).postCount(DEMO_USER_ID),
  };
}

onOneEngine('Demo: interrupted seeding', (database) => {
  const app = useTestApp(database, { DEMO: '1' });

  it('continues in the next run, which registers the confidential app and returns its secret; the run after that seeds nothing', async () => {
    // An interrupted process has registered only the first app.
    const [first] = demoApps(app().config);
    if (first) await app().service(AppsService).register(first, author);
    const landing = async () => (await app().fetch('/')).text();
    // Off despite DEMO=1, until the demo user exists.
    expect(await landing()).toContain('The demo is off');

    const seeded = await app().service(DemoService).seedIfNeeded();
    expect(seeded?.clientSecret).toMatch(/^svc_sec/);
    expect(await counts(app())).toEqual({ apps: 3, posts: 3 });
    expect(await landing()).toContain('The demo is on');
    const users = await app().dataSource.manager.find(User);
    expect(users).toHaveLength(2);
    // A photo of another host would tell that host about each sign-in, and fail without a network.
    expect(users.map(({ photoUrl }) => photoUrl)).toEqual([null, null]);

    expect(await app().service(DemoService).seedIfNeeded()).toBeUndefined();
    expect(await counts(app())).toEqual({ apps: 3, posts: 3 });
  });
});

onOneEngine('Demo: seeding', (database) => {
  const app = useTestApp(database);

  it('skips a database with another app', async () => {
    await app().addClient();
    expect(await app().service(DemoService).seedIfNeeded()).toBeUndefined();
    expect(await counts(app())).toEqual({ apps: 1, posts: 0 });
  });
});

onOneEngine('Demo: two processes on an empty database', (database) => {
  it('start and seed once, without a warning', async () => {
    const env = { DEMO: '1' };
    const processes = await Promise.all([1, 2].map(() => startProcess({ ...database, env })));
    const app = await TestApp.start(database);
    try {
      await expect.poll(() => counts(app)).toEqual({ apps: 3, posts: 3 });
    } finally {
      await app.stop();
      for (const process of processes)
        expect([await process.stop(), warningsAndErrors(process.output())]).toEqual([0, []]);
    }
  });
});

onOneEngine('Demo: missing schema', (database) => {
  it('causes a warning instead of seeding', async () => {
    const process = await startProcess({ ...database, env: { DEMO: '1', MIGRATE: '0' } });
    const warnings = warningsAndErrors(process.output());
    expect(warnings).toEqual([expect.objectContaining({ level: 'warn', context: 'Migrations' })]);
    expect(warnings[0]?.msg).toContain('Migrations are pending');
    expect(await process.stop()).toBe(0);
  });
});
