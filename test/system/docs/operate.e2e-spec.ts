import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WebhookEndpoints } from '../../../src/modules/webhooks/webhook-endpoints.service.js';
import { WebhookWorker } from '../../../src/modules/webhooks/webhook-worker.service.js';
import { EventReceiver } from '../../support/event-receiver.js';
import { useFolder } from '../../support/folder.js';
import { onEachEngine } from '../../support/database.js';
import { Browser } from '../../support/browser.js';
import { Member } from '../../support/member.js';
import {
  keepNames,
  BACKUP_AND_RESTORE,
  canBackUp,
  CLI,
  commandsOf,
  installProgram,
  PastedCommands,
  runBackupAndRestore,
  SECTIONS,
} from '../../support/operate-guide.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { runSql } from '../../support/sql.js';
import { flushDeferredWrites, TestApp } from '../../support/test-app.js';

/** The timeout of a test that runs commands, each in a new process. */
const COMMANDS_TIMEOUT_MS = 90_000;

/** The list items of "Questions at night", with their commands. */
const questions = readFileSync('docs/operate.md', 'utf8')
  .replace(/^[^]*?^## Questions at night$/m, '')
  .replace(/^## [^]*$/m, '')
  .split(/^- /m)
  .slice(1)
  .map((item) => ({
    question: item.split(/[?.:]/, 1).join(''),
    commands: [...item.matchAll(/`(devplatform [^`]+)`/g)].map(([, command = '']) => command),
  }));

/** What the commands of some questions print. */
const ANSWERS: Readonly<Record<string, RegExp>> = {
  'What happened to this request': /\/dev\/v1\/me/,
  'Who uses this app': /grt_/,
  'The partner has lost its client secret': /svc_sec_[^]*live/,
  'This post must go now': /Removed[^]*Restored/,
  'Is a setting wrong, misspelled or not read from `': /configuration/,
  'May I start the new version': /The schema matches this version/,
};

onEachEngine('The pages of docs/operate', (database) => {
  const folder = useFolder();
  let app: TestApp | undefined;
  let operator: PastedCommands;
  const variables: Record<string, string> = { DATABASE_URL: database.url };

  /** Runs the commands of all blocks with this label in a section, in order, and returns their output. */
  async function runSection(
    name: string,
    label = 'run',
    replaceNames = keepNames,
  ): Promise<string> {
    let printed = '';
    for (const line of commandsOf(name, label)) printed += await operator.run(replaceNames(line));
    return printed;
  }

  const parsed = async <T>(command: string): Promise<T> =>
    JSON.parse(await operator.run(`${CLI}${command} --json`)) as T;

  beforeAll(async () => {
    operator = new PastedCommands(folder, variables);
  });
  afterAll(async () => {
    await app?.stop();
  });

  it(
    'Install: creates the schema and the first app',
    { timeout: COMMANDS_TIMEOUT_MS },
    async () => {
      const printed = await runSection('Install');
      expect(printed).toContain('Applied CreatePlatform');
      variables.CLIENT_ID = /svc_app_\w{26}/.exec(printed)?.[0] ?? '';
      app = await TestApp.start(database);
      // Commands use the real clock.
      app.clock.set(new Date().toISOString());
      const member = await Member.join(app);
      const { user, token } = member;
      const { id } = await member.publish();
      const { id: commentId } = await member.comment(id);
      await member.delete(`/posts/${id}`);
      const called = await member.get('/me');
      await flushDeferredWrites(app);
      Object.assign(variables, {
        USER_ID: user.id,
        POST_ID: id,
        COMMENT_ID: commentId,
        REQUEST_ID: called.headers.get('x-request-id') ?? '',
      });
      await writeFile(join(folder, 'token.txt'), `${token}\n`);
      await writeFile(
        join(folder, 'members.csv'),
        'phone,name,neighborhood\n+14155550142,Dana Reyes,Riverside\n',
      );
    },
  );

  const sections: [name: string, expected: RegExp][] = [
    ['Operate the platform', /ok/],
    ['Upgrade', /applied +Operate/],
    ['Jobs and cron', /Recorded plans and limits of earlier months in \d+ rows/],
    ['Watch', /"action":"app\.created"/],
    ['Sign-ins', /^$/],
    ['Refresh tokens', /^$/],
    ['A partner says 401', /live/],
    ['A partner says 429', /CLIENT_ID/],
    ['Raise a quota', /limit +500[^]*plan +partner[^]*plan +default/],
    ['Rotate a secret', /svc_sec_/],
    ['A credential has leaked', /disabled[^]*enabled/],
    ['The database is away', /ok/],
    ['The disk is full', /Would delete[^]*Deleted/],
    ['Messages do not arrive', /locked/],
    ['Counters do not add up', /ok/],
    ['A post was deleted by mistake', /Restored/],
    ['Remove posts', /Removed[^]*disabled[^]*enabled/],
    ['Clock', /counters/],
    // Erases the member.
    ['Members', /Dana|added/],
  ];

  it('Every block that is marked with `run` belongs to one of these sections', () => {
    expect(['Install', ...sections.map(([name]) => name)].toSorted()).toEqual(SECTIONS);
  });

  it.each(sections)(
    '%s: works as documented',
    { timeout: COMMANDS_TIMEOUT_MS },
    async (name, expected) => {
      if (name === 'A credential has leaked') await runSection(name, 'run-token');
      expect(await runSection(name)).toMatch(expected);
    },
  );

  it.each(questions)(
    'Questions at night: $question',
    { timeout: COMMANDS_TIMEOUT_MS },
    async ({ question, commands }) => {
      expect([1, 2]).toContain(commands.length);
      if (app === undefined) throw new Error('The section "Install" failed.');
      const member = await Member.join(app);
      const { permalink, id } = await member.publish();
      const called = await member.get('/me');
      await flushDeferredWrites(app);
      const line = commands.join();
      if (line.includes('app webhook'))
        await app
          .service(WebhookEndpoints)
          .set(member.client.clientId, 'http://127.0.0.1:9', { actor: 'test' }, async () => {});
      // Each command is a process.
      let session: { session: string } | undefined;
      if (line.includes('$SESSION')) {
        await new Browser(app).signIn(authorizeLink(member.client), member.user);
        [session] = await parsed<{ session: string }[]>(`session list --user ${member.user.id}`);
      }
      let grant: { id: string } | undefined;
      if (line.includes('$GRANT_ID'))
        [grant] = (
          await parsed<{ grants: { id: string }[] }>(`grant list --user ${member.user.id}`)
        ).grants;
      const pasted = new PastedCommands(folder, {
        ...variables,
        // The permalinks begin with it.
        PUBLIC_URL: app.baseUrl,
        CLIENT_ID: member.client.clientId,
        USER_ID: member.user.id,
        POST_ID: permalink,
        REQUEST_ID: called.headers.get('x-request-id') ?? '',
        GRANT_ID: grant?.id ?? '',
        SESSION: session?.session ?? '',
      });
      let printed = '';
      for (const command of commands) printed += await pasted.run(command);
      const answer = ANSWERS[question];
      if (answer !== undefined) expect(printed).toMatch(answer);
      if (line.includes('$POST_ID')) expect(printed).toContain(id);
    },
  );

  it(
    'Events: sets an endpoint, repeats events and repairs it',
    { timeout: 2 * COMMANDS_TIMEOUT_MS },
    async () => {
      if (app === undefined) throw new Error('The section "Install" failed.');
      const service = app;
      const now = (): Date => service.clock.now();
      const receiver = await EventReceiver.start(now);
      onTestFinished(() => receiver.stop());
      const { url } = receiver;
      const run = (name: string, label = 'run-events'): Promise<string> =>
        runSection(name, label, (line) => line.replace(/https:\S+/, url));
      const deliver = async (answer: typeof receiver.answer): Promise<void> => {
        receiver.answer = answer;
        service.clock.set(new Date().toISOString());
        await service.service(WebhookWorker).deliverDue();
        await service.service(WebhookWorker).idle();
      };

      const set = await run('Set an endpoint');
      expect(set).toMatch(/msg_\w+ +webhook\.test +waiting/);
      const [secret = ''] = /whsec_\S+/.exec(set) ?? [];
      await deliver({ status: 204 });
      const [test] = receiver.events(secret);
      expect(test).toMatchObject({ type: 'webhook.test' });
      variables.EVENT_ID = test?.id ?? '';
      expect(await run('Rotate the secret')).toContain('whsec_');
      expect(await run('Read deliveries')).toMatch(/webhook\.test +delivered/);
      expect(await run('After an outage of the partner')).toMatch(
        /0 events again[^]*1 event again/,
      );
      await deliver({ status: 410 });
      expect(receiver.events(secret)).toEqual([test, test]);
      const disabled = await run('Events', 'run-events');
      expect(disabled).toMatch(/410[^]*webhook\.disabled/);
      expect(await operator.run(`${CLI}audit list --app "$CLIENT_ID"`)).toContain(
        'webhook.disabled',
      );
      expect(await run('An endpoint was disabled')).toMatch(/now enabled[^]*now disabled/);
      expect(await run('Upgrade, go back, restore')).toContain('webhook.set');

      Object.assign(variables, { PATH: `${await installProgram(folder)}:${process.env.PATH}` });
      const later = { ...variables, NEW_PEPPER: 'another pepper of at least 32 characters' };
      const [line = ''] = commandsOf('Secrets', 'run-pepper');
      const printed = await new PastedCommands(folder, later).run(line);
      expect(printed).toContain('whsec_');
      const shown = await operator.run(`${CLI}app webhook show "$CLIENT_ID" --secret`);
      expect(printed).not.toBe(shown);
    },
  );

  it('A partner wants to test: creates a test app with a member, and empties the app', async () => {
    const section = 'A partner wants to test';
    const created = await runSection(section, 'run-test-app');
    variables.TEST_CLIENT_ID = /svc_app_test_\w{26}/.exec(created)?.[0] ?? '';
    variables.TEST_USER_ID = /usr_\w{26}/.exec(created)?.[0] ?? '';
    expect(await runSection(section, 'run-reset')).toMatch(/Would delete:[^]*Deleted:/);
  });

  it('Upgrade: reverts to the previous release and upgrades again', async () => {
    await expect(runSection('Upgrade', 'run-back')).rejects.toThrow('treat test apps');
    await runSection('Upgrade', 'run-end-tests');
    expect(await runSection('Upgrade', 'run-back')).toMatch(/^Reverted Operate/m);
    expect(await runSection('Upgrade')).toContain('Applied Operate');
  });

  const { kind } = database.engine;
  it.skipIf(!canBackUp(database))(
    'Back up and restore: restores a complete copy, and the doctor reports the default collation, which a dump does not contain',
    async () => {
      const url = await runBackupAndRestore(database, folder, (...block) =>
        runSection(BACKUP_AND_RESTORE, ...block),
      );
      try {
        variables.DATABASE_URL = url;
        const printed = await runSection(BACKUP_AND_RESTORE, 'run-restored');
        expect(printed).toContain('The schema matches this version.');
        expect(printed).not.toContain('failed');
        const [statement] = /ALTER DATABASE .*;/.exec(printed) ?? [];
        expect(statement !== undefined).toBe(kind !== 'sqlite');
        if (statement !== undefined) await runSql(url, statement);
        expect(await operator.run(`${CLI}doctor`)).not.toContain('collation');
        expect(await operator.run(`${CLI}app show ${variables.CLIENT_ID}`)).toContain('Garden');
      } finally {
        variables.DATABASE_URL = database.url;
        if (kind !== 'sqlite') await runSql(url, `DROP DATABASE ${new URL(url).pathname.slice(1)}`);
      }
    },
  );
});
