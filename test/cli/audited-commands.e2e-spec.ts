import { Migrator } from '../../src/database/migrator.js';
import { OtpFailures } from '../../src/modules/oauth/sign-in/otp-failures.entity.js';
import { QuotaUsage } from '../../src/modules/quota/quota-usage.entity.js';
import { User } from '../../src/modules/users/user.entity.js';
import { CommandLine, commandTree, optionsOf } from '../support/command-line.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { type TestApp, useTestApp } from '../support/test-app.js';

/** What a command is run on. */
interface Ground {
  app: TestApp;
  member: Member;
  clientId: string;
}

/** The arguments of a command that changes something, once there is something to change, and the events that it leaves. */
interface Act {
  args: (ground: Ground) => string[] | Promise<string[]>;
  /** What it reads from standard input. */
  input?: (ground: Ground) => string;
  /** What brings back what the others need. */
  after?: (ground: Ground) => Promise<unknown>;
  actions: string[];
}

const CALLBACK = 'https://garden.example/new';
const ACTS: Readonly<Record<string, Act>> = {
  'app create': {
    args: () => ['--name', 'New', '--redirect-uri', CALLBACK, '--scope', 'posts.read'],
    actions: ['app.created', 'app.secret_added'],
  },
  'app update': {
    args: ({ clientId }) => [clientId, '--name', 'Other'],
    actions: ['app.updated'],
  },
  'app disable': { args: ({ clientId }) => [clientId], actions: ['app.disabled'] },
  'app enable': {
    args: async ({ app, clientId }) => {
      await app.dataSource.query(`UPDATE apps SET status = 'disabled'`);
      return [clientId];
    },
    actions: ['app.enabled'],
  },
  'app secret rotate': {
    args: ({ clientId }) => [clientId],
    actions: ['app.secret_added', 'app.secret_retired'],
  },
  'app secret revoke': {
    args: async ({ app, clientId }) => {
      const [secret] = await app.dataSource.query<{ id: string }[]>(
        `SELECT id FROM app_secrets WHERE client_id = '${clientId}'`,
      );
      return [clientId, secret?.id ?? ''];
    },
    actions: ['app.secret_revoked'],
  },
  'user add': {
    args: () => ['--phone', '+14155550199', '--name', 'Dana'],
    actions: ['user.added'],
  },
  'user unlock': {
    args: async ({ app, member: { user } }) => {
      const failure = { phone: user.phone, failures: 3, lastAt: new Date(), lockedUntil: null };
      await app.dataSource.manager.insert(OtpFailures, failure);
      return [user.id];
    },
    actions: ['user.unlocked'],
  },
  'user block': { args: ({ member: { user } }) => [user.id], actions: ['user.blocked'] },
  'user unblock': {
    args: async ({ app, member: { user } }) => {
      await app.dataSource.manager.update(User, { id: user.id }, { status: 'blocked' });
      return [user.id];
    },
    actions: ['user.unblocked'],
  },
  'user import': {
    args: () => ['-'],
    input: () => 'phone,name\n+14155550198,Eli\n',
    actions: ['user.imported'],
  },
  'user revoke-all': { args: ({ member: { user } }) => [user.id], actions: ['grant.revoked'] },
  'user erase': {
    args: ({ member: { user } }) => [user.id],
    actions: ['grant.revoked', 'user.blocked', 'user.erased'],
  },
  'token revoke': {
    args: () => [],
    input: ({ member }) => member.token,
    actions: ['token.revoked'],
  },
  'quota set': { args: ({ clientId }) => [clientId, '--limit', '5'], actions: ['quota.set'] },
  'quota reconcile': {
    args: async ({ app, member, clientId }) => {
      await member.publish();
      await app.dataSource.manager.increment(QuotaUsage, { clientId }, 'used', 1);
      return ['--fix'];
    },
    actions: ['quota.reconciled'],
  },
  'post restore': {
    args: async ({ member }) => {
      const { id } = await member.publish();
      await member.delete(`/posts/${id}`);
      return [id];
    },
    actions: ['post.restored'],
  },
  'db migrate': {
    args: async ({ app }) => {
      await app.dataSource.query(`DELETE FROM migrations WHERE name LIKE 'Operate%'`);
      return [];
    },
    actions: ['db.migrated'],
  },
  'db revert': {
    args: () => ['1.0.0'],
    after: ({ app }) => app.service(Migrator).migrate(),
    actions: ['db.reverted'],
  },
  prune: { args: () => [], actions: ['job.run'] },
  'quota reset': { args: () => [], actions: ['job.run'] },
  'usage rollup': { args: () => [], actions: ['job.run'] },
  doctor: {
    args: async ({ app, member: { user } }) => {
      await app.dataSource.manager.update(User, { id: user.id }, { postCount: 9 });
      return ['--fix'];
    },
    actions: ['counters.fixed'],
  },
};

describe('The commands that take a reason', () => {
  it('are all looked for in the audit log', () => {
    const { leaves } = commandTree();
    const changing = leaves.filter((one) => optionsOf(one).includes('--reason'));
    expect(changing.map(({ path }) => path).toSorted()).toEqual(Object.keys(ACTS).toSorted());
  });
});

onOneEngine('What an operator has changed', (database) => {
  const app = useTestApp(database);
  const cli = new CommandLine(database);

  it.each(Object.entries(ACTS))('by "%s" is in "audit list", with who and why', async (...act) => {
    const [path, { args, actions, input = () => '', after }] = act;
    // The command goes by the real clock.
    app().clock.set(new Date().toISOString());
    const member = await Member.join(app());
    const { clientId } = member.client;
    const ground = { app: app(), member, clientId };
    const words = [...path.split(' '), ...(await args(ground))];
    const reason = `Because of ${path}`;
    await cli.jsonWith(input(ground), ...words, '--actor', 'olga', '--reason', reason);
    await after?.(ground);

    const events = await cli.json<Record<string, unknown>[]>('audit', 'list', '--limit', 'all');
    const own = events.filter((event) => event['reason'] === reason);
    expect(own.map(({ action }) => action).toSorted()).toEqual(actions);
    for (const event of own) expect(event).toMatchObject({ actor: 'olga', request_id: null });
  });
});
