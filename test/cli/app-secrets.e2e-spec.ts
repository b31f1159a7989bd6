import { DAY, HOUR, addMilliseconds, MINUTE } from '../../src/platform/clock.js';
import { sha256 } from '../../src/platform/secrets.js';
import { AppsRepository } from '../../src/modules/oauth/clients/apps.repository.js';
import {
  AppSecretsService,
  type SecretStatus,
} from '../../src/modules/oauth/clients/app-secrets.service.js';
import { type CommandResult, expectFailure } from '../support/command-line.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { auditTrail } from '../support/logs.js';
import { sendForm } from '../support/oauth-flow.js';

const SECRET = /svc_sec_[A-Za-z0-9_-]{43}/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/;

interface SecretJson {
  last_four: string;
  status: string;
  last_used_at: string | null;
}

interface App {
  id: string;
  secret: string;
}

interface RotationJson {
  client_secret: string;
  grace_seconds: number;
}

onOneEngine('Commands "app secret"', (database) => {
  const { app, cli } = useCommands(database);
  const secrets = (): AppSecretsService => app().service(AppSecretsService);

  async function register(kind: 'public' | 'confidential' = 'confidential'): Promise<App> {
    const { clientId, secret = '' } = await app().addClient({ kind });
    return { id: clientId, secret };
  }

  /** An app with a second secret. The first one expires after `graceMs`. */
  async function rotatedApp({ graceMs = HOUR } = {}): Promise<App & { second: string }> {
    const one = await register();
    app().clock.advance(1);
    const { secret } = await secrets().rotate(one.id, graceMs, { actor: 'test' });
    return { ...one, second: secret };
  }

  const rotate = (id: string, ...more: string[]): Promise<RotationJson> =>
    cli.json<RotationJson>('app', 'secret', 'rotate', id, '--yes', ...more);
  const list = (id: string, ...more: string[]): Promise<SecretJson[]> =>
    cli.json<SecretJson[]>('app', 'secret', 'list', id, ...more);

  /** The stored status of the app's secret, found by its last four characters. */
  async function statusOf(id: string, secret: string): Promise<SecretStatus> {
    app().clock.set(new Date().toISOString());
    const all = await secrets().list(id);
    const found = all.find(({ lastFour }) => lastFour === secret.slice(-4));
    if (!found) throw new Error('The app does not have this secret.');
    return found;
  }

  /** Hashes of the secrets that are valid at `time`, newest first. */
  async function liveHashes(clientId: string, time: Date): Promise<string[]> {
    const live = await app().service(AppsRepository).findLiveSecrets(clientId, time);
    return live.toSorted((a, b) => (a.id < b.id ? 1 : -1)).map(({ hash }) => hash);
  }

  describe('app secret rotate', () => {
    it.each([
      ['24 hours', [], DAY],
      ['the time of --grace', ['--grace', '30m'], 30 * MINUTE],
    ])(
      'O145 prints the new secret and keeps the old one valid for %s',
      async (_, args, graceMs) => {
        const { id, secret: old } = await register();
        const before = new Date();
        const rotation = await rotate(id, ...args);
        expect(rotation).toEqual({
          client_id: id,
          client_secret: expect.stringMatching(SECRET),
          secret_id: expect.stringMatching(/^sec_[0-9a-z]{26}$/),
          grace_seconds: graceMs / 1000,
        });
        const both = [sha256(rotation.client_secret), sha256(old)];
        expect(await liveHashes(id, addMilliseconds(before, graceMs - 1))).toEqual(both);
        const end = addMilliseconds(new Date(), graceMs);
        expect(await liveHashes(id, end)).toEqual(both.slice(0, 1));
      },
    );

    it('O145 prints the secret to standard output, and the end times of the other secrets to standard error', async () => {
      const { id, secret: first, second } = await rotatedApp();
      const { code, stdout, stderr } = await cli.run('app', 'secret', 'rotate', id, '--yes');
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /^client_id {6}svc_app_\S+\nclient_secret {2}svc_sec_\S+\nsecret_id {6}sec_\S+\n$/,
      );
      expect(stderr).toContain('shown only once');
      expect(stderr).toContain(`The secret ending in "${second.slice(-4)}" is valid until 20`);
      expect(stderr).toContain(`The secret ending in "${first.slice(-4)}" is no longer valid.`);
      expect(stderr).not.toMatch(SECRET);
    });

    it('O145 prints the end of the old secret with its relative time at a terminal', async () => {
      const { id } = await register();
      const { stderr } = await cli.runAtTerminal(80, 'app', 'secret', 'rotate', id, '--yes');
      expect(stderr).toMatch(/ is valid until [-\dT:]{19}Z \(in 23 h\)\.$/m);
    });

    it('O145 ends the old secrets at once with --grace 0', async () => {
      const { id } = await rotatedApp();
      const { client_secret } = await rotate(id, '--grace', '0');
      expect(await liveHashes(id, new Date())).toEqual([sha256(client_secret)]);
    });

    it('O145 rejects a public app, which has no secret', async () => {
      const { id } = await register('public');
      const outcome = await cli.run('app', 'secret', 'rotate', id, '--yes');
      expectFailure(outcome, 'public app has no client secret');
      expect(await secrets().list(id)).toEqual([]);
    });
  });

  describe('app secret list', () => {
    it('O90 lists id, last four characters, creation, last use and end of live secrets, newest first', async () => {
      const { id, secret: first, second } = await rotatedApp();
      const [old, current] = [await statusOf(id, first), await statusOf(id, second)];
      expect(await list(id)).toEqual([
        {
          secret_id: current.id,
          last_four: second.slice(-4),
          status: 'live',
          created_at: current.createdAt.toISOString(),
          last_used_at: null,
          expires_at: null,
        },
        {
          secret_id: old.id,
          last_four: first.slice(-4),
          status: 'live',
          created_at: old.createdAt.toISOString(),
          last_used_at: null,
          expires_at: addMilliseconds(current.createdAt, HOUR).toISOString(),
        },
      ]);
    });

    it('O90 shows the last use of a secret', async () => {
      const { id, secret } = await register();
      const client = { clientId: id, secret };
      await sendForm(app(), '/oauth/token', client, {
        grant_type: 'refresh_token',
        refresh_token: 'x',
      });
      const [only] = await list(id);
      expect(only?.last_used_at).toBe(app().clock.now().toISOString());
    });

    it('O90 lists ended secrets last, and only with --all', async () => {
      const { id, secret: first, second } = await rotatedApp({ graceMs: 0 });
      const lastFours = (listed: SecretJson[]): string[] =>
        listed.map(({ last_four, status }) => `${last_four} ${status}`);
      const live = `${second.slice(-4)} live`;
      expect(lastFours(await list(id))).toEqual([live]);
      expect(lastFours(await list(id, '--all'))).toEqual([live, `${first.slice(-4)} ended`]);
    });

    it('O90 prints one line for each column, without the secrets themselves', async () => {
      const { id, secret } = await register();
      const { code, stdout, stderr } = await cli.runAtTerminal(80, 'app', 'secret', 'list', id);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(
        new RegExp(
          `^SECRET_ID  sec_\\w+\nLAST_FOUR  ${secret.slice(-4)}\nSTATUS     live\nCREATED    20\\S+Z \\((now|\\d+ s ago)\\)\nLAST_USED  never\nEXPIRES    never\n$`,
        ),
      );
      expect(stdout.split('\n').every((line) => line.length <= 80)).toBe(true);
      expect(stdout).not.toMatch(SECRET);
    });

    it('O90 explains why a public app has no secret', async () => {
      const { id } = await register('public');
      const { code, stderr } = await cli.run('app', 'secret', 'list', id);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: 'A public app has no client secret. It authenticates with PKCE only.\n',
      });
    });
  });

  describe('app secret revoke', () => {
    const revoke = (id: string, secretId: string, ...more: string[]): Promise<CommandResult> =>
      cli.run('app', 'secret', 'revoke', id, secretId, ...more);

    it('O145 ends the given secret at once', async () => {
      const { id, secret: first, second } = await rotatedApp();
      const old = await statusOf(id, first);
      expect(await cli.json('app', 'secret', 'revoke', id, old.id, '--yes')).toEqual({
        client_id: id,
        secret_id: old.id,
        last_four: old.lastFour,
        status: 'ended',
        created_at: old.createdAt.toISOString(),
        last_used_at: null,
        expires_at: expect.stringMatching(TIME),
        live_secrets: 1,
      });
      expect(await liveHashes(id, new Date())).toEqual([sha256(second)]);
    });

    it('O145 ends the last secret and prints that the app cannot authenticate', async () => {
      const { id, secret } = await register();
      const only = await statusOf(id, secret);
      const { code, stdout, stderr } = await revoke(id, only.id, '--yes');
      expect(code).toBe(0);
      expect(stdout).toMatch(/^live_secrets {2}0$/m);
      expect(stderr).toContain('The app has no live secret and cannot authenticate.');
      expect((await cli.run('app', 'secret', 'list', id)).stderr).toBe(stderr);
      expect(await liveHashes(id, new Date())).toEqual([]);
    });

    it('O145 changes nothing for an ended secret and prints when it ended', async () => {
      const { id, secret } = await rotatedApp({ graceMs: 0 });
      const old = await statusOf(id, secret);
      const { code, stderr } = await revoke(id, old.id);
      const end = old.expiresAt?.toISOString();
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: `No change. The secret already ended at ${end}.\n`,
      });
      expect(await statusOf(id, secret)).toEqual(old);
    });

    it('O145 rejects a secret of another app and an unknown secret', async () => {
      const { id, secret } = await register();
      const only = await statusOf(id, secret);
      const { id: other } = await register();
      expectFailure(await revoke(other, only.id), 'The app has no secret with this id.');
      expectFailure(await revoke(id, "x' OR 1=1"), 'The app has no secret with this id.');
      expect(await statusOf(id, secret)).toEqual(only);
    });

    it('O145 does not print a secret that is given instead of its id', async () => {
      const { id, secret } = await register();
      expectFailure(await revoke(id, secret), 'This is a client secret, not its id');
    });
  });

  it('O144 records actor and reason of a rotation and a revocation, without the secrets', async () => {
    const { id, secret: first } = await register();
    const rotationOptions = ['--actor', 'pia', '--reason', 'Yearly'];
    const { client_secret: second } = await rotate(id, ...rotationOptions);
    const { id: firstId } = await statusOf(id, first);
    const revocationOptions = ['--actor', 'rob', '--reason', 'Found in a log'];
    await cli.json('app', 'secret', 'revoke', id, firstId, '--yes', ...revocationOptions);
    const events = await auditTrail(app().dataSource, id);
    expect(events).toHaveLength(5);
    const [firstLastFour, secondLastFour] = [first.slice(-4), second.slice(-4)];
    const entries = events.map(({ action, actor, reason, details }) => {
      const { lastFour } = details as { lastFour?: string };
      return [action, actor, reason, lastFour];
    });
    expect(entries).toEqual(
      expect.arrayContaining([
        ['app.created', 'test', null, undefined],
        ['app.secret_added', 'test', null, firstLastFour],
        ['app.secret_retired', 'pia', 'Yearly', firstLastFour],
        ['app.secret_added', 'pia', 'Yearly', secondLastFour],
        ['app.secret_revoked', 'rob', 'Found in a log', firstLastFour],
      ]),
    );
    expect(JSON.stringify(events)).not.toMatch(SECRET);
  });
});
