import { DemoService } from '../../src/modules/demo/demo.service.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';
import { json } from '../support/responses.js';

const TOKEN = /^svcat_[A-Za-z0-9_-]{43}$/;

onOneEngine('Command "demo token"', (database) => {
  const { app, cli } = useCommands(database);

  it('prints a token of the demo user only on a demo database', async () => {
    const rejected = await cli.run('demo', 'token');
    expect(rejected).toMatchObject({ code: 1, stdout: '' });
    expect(rejected.stderr).toContain('This database is not a demo.');

    await app().service(DemoService).seedIfNeeded();
    const { code, stdout, stderr } = await cli.run('demo', 'token');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd()).toMatch(TOKEN);
    const me = await app().call(stdout.trimEnd(), 'GET', '/me');
    expect(await json(me)).toMatchObject({ name: 'Ana Lee' });
    expect(await cli.json('demo', 'token')).toEqual({
      access_token: expect.stringMatching(TOKEN),
      token_type: 'Bearer',
    });
  });
});
