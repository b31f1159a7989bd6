import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { migrations } from '../../src/platform/database/migrations/list.js';
import { Migrator } from '../../src/platform/database/migrations/migrator.js';
import { OtpOperations } from '../../src/modules/oauth/sign-in/otp-operations.service.js';
import { OtpFailures, SignInSession } from '../../src/modules/oauth/sign-in/sign-in.entities.js';
import { WebhookEvent } from '../../src/modules/events/event.entities.js';
import { Grant } from '../../src/modules/oauth/tokens/token.entities.js';
import { addMilliseconds, HOUR } from '../../src/platform/clock.js';
import { QuotaUsage } from '../../src/modules/quota/quota.entities.js';
import { User } from '../../src/modules/users/user.entity.js';
import { WebhookEndpoints } from '../../src/modules/webhooks/webhook-endpoints.service.js';
import { commandTree, optionsOf, SHORT_REQUESTS } from '../support/command-line.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import type { TestApp } from '../support/test-app.js';

interface Context {
  app: TestApp;
  member: Member;
  clientId: string;
}

/** How to run a command so that it changes something, and the audit events that it records. */
interface CommandCase {
  /** Prepares the change and returns the arguments. */
  args: (context: Context) => string[] | Promise<string[]>;
  /** Standard input. */
  input?: (context: Context) => string;
  /** Restores the state that other commands need. */
  after?: (context: Context) => Promise<unknown>;
  /** Actions of the recorded audit events, sorted. */
  actions: string[];
}

const CALLBACK = 'https://garden.example/new';
const ENDPOINT = 'http://127.0.0.1:9/events';

/** Sets an endpoint of the app, and returns the id of the app. */
async function withEndpoint({ app, clientId }: Context): Promise<string> {
  const change = { actor: 'other' };
  await app.service(WebhookEndpoints).set(clientId, ENDPOINT, change, async () => undefined);
  return clientId;
}

const COMMANDS: Readonly<Record<string, CommandCase>> = {
  'app create': {
    args: () => ['--name', 'New', '--redirect-uri', CALLBACK, '--scope', 'posts.read'],
    actions: ['app.created', 'app.secret_added'],
  },
  'app update': {
    args: ({ clientId }) => [clientId, '--scope', 'posts.read'],
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
    args: ({ clientId }) => [clientId, '--grace', '0'],
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
  'app webhook set': {
    args: ({ clientId }) => [clientId, ENDPOINT],
    actions: ['webhook.set'],
  },
  'app webhook rotate-secret': {
    args: async (context) => [await withEndpoint(context)],
    actions: ['webhook.secret_rotated'],
  },
  'app webhook disable': {
    args: async (context) => [await withEndpoint(context)],
    actions: ['webhook.disabled'],
  },
  'app webhook enable': {
    args: async (context) => {
      const clientId = await withEndpoint(context);
      await context.app.service(WebhookEndpoints).switch(clientId, false, { actor: 'other' });
      return [clientId];
    },
    actions: ['webhook.enabled'],
  },
  'app webhook redeliver': {
    args: async (context) => {
      const clientId = await withEndpoint(context);
      await context.app.service(WebhookEndpoints).test(clientId);
      const { manager } = context.app.dataSource;
      await manager.update(WebhookEvent, { clientId }, { outcome: 'failed', dueAt: null });
      return [clientId, '--failed'];
    },
    actions: ['webhook.redelivered'],
  },
  'user add': {
    args: () => ['--phone', '+14155550199', '--name', 'Dana'],
    actions: ['user.added'],
  },
  'user unlock': {
    args: async ({ app, member: { user } }) => {
      const failure = {
        phone: user.phone,
        failures: 3,
        lastAttemptAt: new Date(),
        lockedUntil: null,
      };
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
  'user update': {
    args: ({ member: { user } }) => [user.id, '--name', 'Dana'],
    actions: ['user.updated'],
  },
  'user change-phone': {
    args: ({ member: { user } }) => [user.id, '--phone', '+14155550197'],
    actions: ['grant.revoked', 'user.updated'],
  },
  'user import': {
    args: () => ['-', '--reassign-phones'],
    input: () => 'phone,name\n+14155550198,Eli\n',
    actions: ['user.added', 'user.imported'],
  },
  'user export': { args: ({ member: { user } }) => [user.id], actions: ['user.exported'] },
  'user revoke-all': { args: ({ member: { user } }) => [user.id], actions: ['grant.revoked'] },
  'user erase': {
    args: ({ member: { user } }) => [user.id],
    actions: ['grant.revoked', 'user.blocked', 'user.erased'],
  },
  'app revoke-all': { args: ({ clientId }) => [clientId], actions: ['grant.revoked'] },
  'app reset': {
    args: async ({ app, clientId }) => {
      await app.dataSource.query(`UPDATE apps SET test = TRUE WHERE client_id = '${clientId}'`);
      return [clientId];
    },
    // "db revert" is refused while a test app is enabled.
    after: ({ app }) => app.dataSource.query('UPDATE apps SET test = FALSE'),
    actions: ['app.reset'],
  },
  'grant revoke': {
    args: async ({ app, clientId }) => {
      const { id } = await app.dataSource.manager.findOneByOrFail(Grant, { clientId });
      return [id];
    },
    actions: ['grant.revoked'],
  },
  'session end': {
    args: async ({ app, member: { user } }) => {
      const hash = 'ab'.repeat(32);
      const [createdAt, expiresAt] = [new Date(), addMilliseconds(new Date(), HOUR)];
      const session = { hash, userId: user.id, createdAt, expiresAt };
      await app.dataSource.manager.insert(SignInSession, session);
      return [hash.slice(0, 12), '--user', user.id];
    },
    actions: ['session.ended'],
  },
  'otp pause': {
    args: () => [],
    after: ({ app }) => app.service(OtpOperations).resume({ actor: 'test' }),
    actions: ['otp.paused'],
  },
  'otp resume': {
    args: async ({ app }) => {
      await app.service(OtpOperations).pause({ actor: 'test' });
      return [];
    },
    actions: ['otp.resumed'],
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
  'post remove': {
    args: async ({ member }) => [(await member.publish()).id],
    actions: ['post.removed'],
  },
  'post restore': {
    args: async ({ member }) => {
      const { id } = await member.publish();
      await member.delete(`/posts/${id}`);
      return [id];
    },
    actions: ['post.restored'],
  },
  'comment remove': {
    args: async ({ member }) => [(await member.comment((await member.publish()).id)).id],
    actions: ['comment.removed'],
  },
  'db migrate': {
    args: async ({ app }) => {
      // Marks an applied migration as pending. That migration can run again.
      await app.dataSource.query(`DELETE FROM migrations WHERE name LIKE 'Operate%'`);
      return [];
    },
    actions: ['db.migrated'],
  },
  'db revert': {
    args: () => ['1.0.0'],
    after: ({ app }) => app.service(Migrator).migrate(),
    // One event for each migration after 1.0.0, which has the first one.
    actions: migrations.slice(1).map(() => 'db.reverted'),
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

const { leaves } = commandTree();

describe('Commands with a --reason', () => {
  it('are all tested below', () => {
    const changing = leaves.filter((one) => optionsOf(one).includes('--reason'));
    expect(changing.map(({ path }) => path).toSorted()).toEqual(Object.keys(COMMANDS).toSorted());
  });
});

onOneEngine('Confirmation and audit events of commands', (database) => {
  const { app, cli } = useCommands(database, SHORT_REQUESTS);

  it.each(Object.entries(COMMANDS))(
    '"%s" does nothing without its confirmation, and records its actor and reason',
    async (path, commandCase) => {
      const { args, actions, input = () => '', after } = commandCase;
      const member = await Member.join(app());
      const { clientId } = member.client;
      const context = { app: app(), member, clientId };
      const reason = `Because of ${path}`;
      const audited = [...(await args(context)), '--actor', 'olga', '--reason', reason];
      const words = [...path.split(' '), ...audited];
      const find = () => app().dataSource.manager.findBy(AuditEvent, { reason });
      if (leaves.find((leaf) => leaf.path === path)?.command.confirmation !== undefined) {
        for (const options of [[], ['--json']])
          expect(await cli.runWithInput(input(context), ...words, ...options)).toMatchObject({
            code: 2,
            stderr:
              'Standard input is not a terminal, so the command cannot ask for confirmation. Add --yes to confirm.\n',
          });
        expect(await find()).toEqual([]);
      }
      await cli.jsonWithInput(input(context), ...words, '--yes');
      await after?.(context);

      const events = await find();
      expect(events.map(({ action }) => action).toSorted()).toEqual(actions);
      for (const event of events)
        expect(event).toMatchObject({ actor: 'olga', requestId: null, address: null });
    },
  );
});
