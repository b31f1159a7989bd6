import { HOUR } from '../../../src/platform/clock.js';
import { AppSecretsService } from '../../../src/modules/oauth/clients/app-secrets.service.js';
import { concurrently, race } from '../../support/cluster.js';
import { CommandLine, runCommandProcess } from '../../support/command-line.js';
import { onEachEngine } from '../../support/database.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';

onEachEngine('Concurrent secret rotations', (database) => {
  const app = useTestApp(database);
  const cli = new CommandLine(database, runCommandProcess);

  /** The expiry of each valid secret, or null without one. The newest secret is first. */
  async function liveExpiries(client: TestClient): Promise<(Date | null)[]> {
    const all = await app().service(AppSecretsService).list(client.clientId);
    return all.filter(({ isLive }) => isLive).map(({ expiresAt }) => expiresAt);
  }

  race(
    'O90 leaves two valid secrets, one of them with an expiry, after twelve rotations at once',
    async () => {
      const client = await app().addClient();
      const secrets = app().service(AppSecretsService);
      const change = { actor: 'test' };
      const all = await concurrently(12, () => secrets.rotate(client.clientId, HOUR, change));
      expect(new Set(all.map(({ secret }) => secret)).size).toBe(12);
      expect(await liveExpiries(client)).toEqual([null, expect.any(Date)]);
    },
  );

  it('O90 leaves two valid secrets, one of them with an expiry, after three commands at once', async () => {
    const client = await app().addClient();
    await concurrently(3, () => cli.json('app', 'secret', 'rotate', client.clientId, '--yes'));
    app().clock.set(new Date().toISOString());
    expect(await liveExpiries(client)).toEqual([null, expect.any(Date)]);
  });
});
