import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import { newId } from '../../src/platform/ids.js';
import type { CommandResult } from '../support/command-line.js';
import { useCommands } from '../support/commands.js';
import { onOneEngine } from '../support/database.js';

const DAY = 86_400_000;
const [ANA_APP, BOB_APP] = [newId('svc_app', new Date(0)), newId('svc_app', new Date(1))];
const [ANA, BOB] = [newId('usr', new Date(0)), newId('usr', new Date(1))];

interface ListedEvent {
  id: string;
}

onOneEngine('Command "audit list"', (database) => {
  const { app, cli } = useCommands(database);
  const manager = () => app().dataSource.manager;
  beforeEach(() => manager().clear(AuditEvent));

  /** Writes an event and returns its id. */
  async function write(at: string | Date, event: Partial<AuditEvent> = {}): Promise<string> {
    const time = new Date(at);
    const id = newId('evt', time);
    const blank = { clientId: null, userId: null, reason: null, requestId: null, address: null };
    const quota = { action: 'quota.set', actor: 'olga', subject: ANA_APP, details: {} };
    await manager().insert(AuditEvent, { at: time, id, ...blank, ...quota, ...event });
    return id;
  }
  const list = (...args: string[]): Promise<ListedEvent[]> =>
    cli.json<ListedEvent[]>('audit', 'list', ...args);
  const ids = async (...args: string[]): Promise<string[]> =>
    (await list(...args)).map(({ id }) => id);
  function expectSilent({ code, stderr }: CommandResult): void {
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  }

  it('prints every field of an event, as JSON, as one line, and with --full on several lines', async () => {
    const event = {
      clientId: ANA_APP,
      userId: ANA,
      reason: 'Pilot',
      requestId: 'req_1',
      address: '192.0.2.1',
      details: { limit: null, plan: 'partner' },
    };
    const at = '2026-11-20T09:30:00.123Z';
    const id = await write(at, event);
    expect(await list()).toEqual([
      {
        id,
        at,
        action: 'quota.set',
        actor: 'olga',
        subject: ANA_APP,
        client_id: ANA_APP,
        user_id: ANA,
        reason: 'Pilot',
        request_id: 'req_1',
        address: '192.0.2.1',
        details: { limit: null, plan: 'partner' },
      },
    ]);
    const line = await cli.run('audit', 'list');
    expectSilent(line);
    expect(line.stdout).toBe(
      `${at}  quota.set                olga  ${ANA_APP}  user: ${ANA}, reason: Pilot, limit: null, plan: partner, request: req_1, address: 192.0.2.1\n`,
    );
    const outcome = await cli.run('audit', 'list', '--full');
    expectSilent(outcome);
    expect(outcome.stdout).toBe(
      [
        `${at}  quota.set`,
        '  by       olga',
        `  about    ${ANA_APP}`,
        `  user     ${ANA}`,
        '  reason   Pilot',
        '  details  limit: null, plan: partner',
        '  request  req_1',
        '  address  192.0.2.1\n',
      ].join('\n'),
    );
  });

  it('prints one line for each event, cut at the width of the terminal, and whole in a pipe', async () => {
    const reason = 'r'.repeat(200);
    await write('2026-11-20T09:30:00.123Z', { reason, clientId: BOB_APP, details: { a: 'b\nc' } });
    await write(new Date(Date.now() - 3 * DAY), { actor: ANA, subject: ANA, userId: ANA });
    const lines = (text: string) => text.split('\n').slice(0, -1);
    const whole = lines((await cli.run('audit', 'list')).stdout);
    expect(whole).toHaveLength(2);
    const long = `2026-11-20T09:30:00.123Z  quota.set                olga  ${ANA_APP}  ${BOB_APP}  reason: ${reason}, a: b c`;
    expect(whole).toContain(long);
    // Each id is printed once.
    expect(whole.find((line) => line !== long)).toMatch(new RegExp(`Z  quota\\.set +${ANA}$`));
    const cut = lines((await cli.runAtTerminal(120, 'audit', 'list')).stdout);
    expect(cut).toHaveLength(2);
    expect(cut.join('\n')).toMatch(
      /^2026-11-20T09:30:00Z \((\d+ (h|days?|months?|years?) ago|in .*)\) +quota\.set {16}olga {2}svc_app_.*…$/m,
    );
    expect(cut.join('\n')).toContain('Z (3 days ago)  ');
    expect(Math.max(...cut.map((line) => line.length))).toBe(120);
  });

  it('wraps long values with --full at the width of the terminal, and not in a pipe', async () => {
    const reason = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
    const details = { redirectUris: [`https://garden.example/${'x'.repeat(200)}`] };
    await write('2026-11-20', { reason, details, clientId: BOB_APP });
    const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length));
    for (const columns of [80, 132]) {
      const { stdout } = await cli.runAtTerminal(columns, 'audit', 'list', '--full');
      expect(widest(stdout)).toBe(columns);
      expect(stdout.replaceAll(/\n +/g, ' ')).toContain(reason);
      expect(stdout).toContain(`  app      ${BOB_APP}`);
    }
    // Docker terminals may report a width of 0.
    expect(widest((await cli.runAtTerminal(0, 'audit', 'list', '--full')).stdout)).toBe(80);
    expect((await cli.run('audit', 'list', '--full')).stdout).toContain(`  reason   ${reason}\n`);
  });

  it('lists the newest 100 events by default', async () => {
    const written: string[] = [];
    for (let second = 0; second < 105; second += 1)
      written.push(await write(new Date(Date.UTC(2026, 10, 20, 0, 0, second))));
    const newest = written.toReversed();
    expect(await ids()).toEqual(newest.slice(0, 100));
    expect(await ids('--limit', '3')).toEqual(newest.slice(0, 3));
    expect(await ids('--limit', 'all')).toEqual(newest);
  });

  it('filters by app, user, action and time', async () => {
    const [ofUser, ofAppAndUser, ofApp, ofOthers] = [
      await write(new Date(Date.now() - 2 * DAY), { userId: ANA, action: 'user.added' }),
      await write('2026-11-20T00:00:00.000Z', { clientId: ANA_APP, userId: ANA }),
      await write('2026-11-20T23:59:59.999Z', { clientId: ANA_APP, action: 'app.disabled' }),
      await write('2026-11-21T00:00:00.000Z', { clientId: BOB_APP, userId: BOB }),
    ];
    const found = async (...args: string[]) => (await ids(...args)).toSorted();
    const sorted = (...events: string[]) => events.toSorted();
    expect(await found('--app', ANA_APP)).toEqual(sorted(ofAppAndUser, ofApp));
    expect(await found('--user', ANA)).toEqual(sorted(ofUser, ofAppAndUser));
    expect(await found('--user', ANA, '--app', ANA_APP)).toEqual([ofAppAndUser]);
    expect(await found('--user', ANA, '--app', BOB_APP)).toEqual([]);
    expect(await found('--action', 'app.disabled')).toEqual([ofApp]);
    const day = ['--since', '2026-11-20', '--until', '2026-11-21'];
    expect(await found(...day, '--action', 'quota.set')).toEqual([ofAppAndUser]);
    expect(await found(...day, '--app', ANA_APP)).toEqual(sorted(ofAppAndUser, ofApp));
    expect(await found('--since', '2026-11-20T23:59:59.999Z', '--app', BOB_APP)).toEqual([
      ofOthers,
    ]);
    const action = ['--action', 'user.added'];
    expect(await found('--since', '47h', ...action)).toEqual([]);
    expect(await found('--since', '49h', '--until', '47h', ...action)).toEqual([ofUser]);
  });

  it('filters by actor, and leaves out actions', async () => {
    const added = await write('2026-11-20T00:00:01.000Z', { action: 'user.added' });
    const updated = await write('2026-11-20T00:00:02.000Z', { action: 'user.updated' });
    const byService = await write('2026-11-20T00:00:03.000Z', { actor: 'service' });
    expect(await ids('--actor', 'olga')).toEqual([updated, added]);
    expect(await ids('--actor', 'service')).toEqual([byService]);
    expect(await ids('--actor', 'ol')).toEqual([]);
    expect(await ids('--not-action', 'user.added')).toEqual([byService, updated]);
    const others = ['--not-action', 'user.added', '--not-action', 'user.updated'];
    expect(await ids(...others)).toEqual([byService]);
    expect(await ids(...others, '--actor', 'olga')).toEqual([]);
    expect(await ids('--not-action', 'user.added', '--limit', '1')).toEqual([byService]);
  });

  it('prints nothing on standard output when no event matches', async () => {
    expect(await list()).toEqual([]);
    expect(await cli.run('audit', 'list', '--action', 'app.created')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No matching events.\n',
    });
  });

  it.each([
    ['--app', 'garden', 'It must be a client_id such as svc_app_…. Run "app list" to find it.'],
    ['--user', ANA_APP, 'It must be a user id such as usr_….'],
    ['--action', 'quota.sett', 'Allowed choices are app.created, app.disabled, '],
    ['--not-action', 'user.add', 'It must be one of the actions that --help lists at --action.'],
    ['--since', 'soon', 'It must be an age such as 24h or 30d, today'],
    ['--since', '2026-02-30', 'It must be an age'],
    ['--until', '2026-11-20T25:00:00Z', 'It must be an age'],
    ['--limit', '0', 'It must be a whole number from 1, or "all".'],
    ['--limit', 'many', 'It must be a whole number from 1, or "all".'],
  ])('rejects %s %s and prints the accepted values', async (option, value, sentence) => {
    const { code, stdout, stderr } = await cli.run('audit', 'list', option, value);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(sentence);
  });
});
