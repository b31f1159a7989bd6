import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Column, COLUMNS } from '../../../src/modules/operations/import/file-record.js';
import { FORMATS } from '../../../src/modules/operations/import/import-file.js';
import { User } from '../../../src/modules/users/user.entity.js';
import {
  CommandLine,
  commandTree,
  optionsOf,
  type CommandResult,
  type CommandEntry,
} from '../../support/command-line.js';
import { onSqlite } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { Bystander } from './expect-harmless.js';
import { HIDDEN, HOSTILE_LINES, HOSTILE_TEXTS, textsFor } from './hostile-texts.js';

/** Each value gets every eighth text of a group only, because each command starts an application. */
const ONE_IN = 8;
/** Minimum number of audit actions with a hostile actor. */
const MIN_ACTIONS = 6;
const TEST_TIMEOUT_MS = 300_000;
const CALLBACK = 'https://garden.example/callback';
/** Deep below the folder of the test, so that no path traversal leaves the folder. */
const DEEP = 'a/b/c/d';
const PLAIN = 'Plain words';
/** Sent as every value, to find the values that accept any text. It is a valid file name, too. */
const STATEMENT = `'; DROP TABLE posts; --`;
/** Values that are stored without change, with the JSON member that returns them. */
const STORED: Readonly<Record<string, string>> = {
  'app create --name': 'name',
  'app create --publisher': 'publisher',
  'app create --reference': 'reference',
  'app update --name': 'name',
  'app update --publisher': 'publisher',
  'app update --reference': 'reference',
  'user add --name': 'name',
  'user update --name': 'name',
  'user add --neighborhood': 'neighborhood',
};
/** All values that accept any text: the stored ones, filters, a file name and the text of a search. */
const FREE_TEXT = [
  ...Object.keys(STORED),
  'app list --name',
  'app list --publisher',
  'app list --reference',
  'audit list --actor',
  'request list --route',
  'user export --output',
  'user search <text>',
];
/** The valid columns of an imported line, without its phone. */
const DEFAULTS: Readonly<Record<Exclude<Column, 'phone'>, string>> = {
  name: 'Ana Lee',
  external_id: '',
  neighborhood: 'Riverside',
  photo_url: 'https://images.example/ana.jpg',
  latitude: '37.5',
  longitude: '-122.25',
};

/** A value in a command line: an argument, or the value of an option. */
interface Value {
  /** The option name; undefined for an argument. */
  option?: string;
  /** The placeholder in the help. */
  name: string;
  isRequired: boolean;
}

/** Optional only with `--docs`, which registers another app. */
const NEEDED_WITHOUT_DOCS = ['--name', '--redirect-uri', '--scope'];

/** The values that a command accepts, except `--reason`, which is tested with `--actor`. */
function valuesOf({ command, path }: CommandEntry): Value[] {
  const options = command.options.filter(({ required, long }) => required && long !== '--reason');
  return [
    ...command.registeredArguments.map((one) => ({ name: one.name(), isRequired: true })),
    ...options.map(({ long, flags, mandatory }) => ({
      option: long ?? flags,
      name: /<([^>]+)>/.exec(flags)?.[1] ?? '',
      isRequired:
        mandatory || (path === 'app create' && NEEDED_WITHOUT_DOCS.includes(long ?? flags)),
    })),
  ];
}

/** Asserts a documented exit code, and output without hidden characters or a stack trace. After a success it is JSON. */
function expectHarmlessOutput({ code, stdout, stderr }: CommandResult, label: string): void {
  expect(code, label).toBeOneOf([0, 1, 2]);
  expect(stdout + stderr, label).not.toMatch(HIDDEN);
  expect(stdout + stderr, label).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
  if (code === 0) expect(() => JSON.parse(stdout) as unknown, label).not.toThrow();
}

onSqlite('Injection through the command line', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '1000' });
  const cli = new CommandLine(database);
  let bystander: Bystander;
  let folder: string;

  beforeAll(async () => {
    app().clock.set(new Date().toISOString());
    bystander = await Bystander.join(app());
    folder = await mkdtemp(join(tmpdir(), 'platform-words-'));
    await mkdir(join(folder, DEEP), { recursive: true });
  });
  afterEach(() => bystander.expectUnchanged());
  afterAll(() => rm(folder, { recursive: true }));

  it.for(FORMATS)(
    'stores or rejects hostile texts in each column of an import: %s',
    async (format, { task }) => {
      const isCsv = format === 'csv';
      const firstPhone = FORMATS.indexOf(format) * 1000;
      const texts = [PLAIN, ...(isCsv ? HOSTILE_LINES : HOSTILE_TEXTS)];
      const rows = COLUMNS.flatMap((column) => texts.map((text) => ({ column, text })));
      const users = rows.map(({ column, text }, index) => ({
        phone: phoneOf(firstPhone + index),
        ...DEFAULTS,
        [column]: text,
      }));
      const lines = isCsv
        ? [COLUMNS.join(), ...users.map((user) => COLUMNS.map((one) => quoted(user[one])).join())]
        : users.map((user) => JSON.stringify(withNumbers(user)));
      const words = ['user', 'import', '-', '--format', format, '--json'];
      const outcome = await cli.runWithInput(lines.join('\n'), ...words);
      expectHarmlessOutput(outcome, format);
      const { errors } = JSON.parse(outcome.stdout) as { errors: { line: number }[] };
      // Lines count from 1. The first line of CSV has the column names.
      const rejected = new Set(errors.map(({ line }) => line - (isCsv ? 2 : 1)));
      const { manager } = app().dataSource;
      /** Columns that accept any single-line text. */
      const freeColumns = new Set(
        rows.flatMap(({ column, text }, index) =>
          text === PLAIN && !rejected.has(index) ? [column] : [],
        ),
      );
      expect([...freeColumns].toSorted()).toEqual(['external_id', 'name', 'neighborhood']);
      for (const [index, { column, text }] of rows.entries()) {
        const isRejected = rejected.has(index);
        if (freeColumns.has(column) && (text === PLAIN || HOSTILE_LINES.includes(text)))
          expect([column, text, isRejected]).toEqual([column, text, false]);
        const user = await manager.findOneBy(User, { phone: phoneOf(firstPhone + index) });
        expect([column, text, user === null]).toEqual([column, text, isRejected]);
        const property = column === 'external_id' ? 'externalId' : (column as 'name');
        if (user) expect(user[property]).toBe(text.trim());
      }
      reportFigure(
        task,
        `${COLUMNS.length} columns of ${format}, ${texts.length - 1} hostile texts, ${rows.length - rejected.size} of ${rows.length} lines stored`,
      );
    },
  );

  it('rejects hostile texts as column names', async () => {
    const phone = phoneOf(4000);
    // In an object literal, `__proto__` would set the prototype.
    const objects = HOSTILE_TEXTS.map((text) =>
      JSON.stringify(Object.fromEntries([...Object.entries({ phone, name: PLAIN }), [text, 'x']])),
    );
    const files = [
      ['ndjson', objects.join('\n')],
      ...textsFor(0, { oneIn: ONE_IN }).map((text) => [
        'csv',
        `phone,name,${quoted(text)}\n${phone},${PLAIN},x\n`,
      ]),
    ];
    for (const [format = '', file = ''] of files) {
      const outcome = await cli.runWithInput(file, 'user', 'import', '-', '--format', format);
      expectHarmlessOutput(outcome, file);
      expect([file, outcome.code]).toEqual([file, 1]);
    }
    expect(await app().dataSource.manager.countBy(User, { phone })).toBe(0);
  });

  /**
   * Asserts that a single-line text is accepted, except hidden characters in the name or publisher of an app, and that the created or changed item shows an accepted text, trimmed.
   * @param place command and option
   */
  async function expectStored(
    place: string,
    text: string,
    { code, stdout }: CommandResult,
  ): Promise<void> {
    // Users see all of these texts but the reference.
    const isShown = place.startsWith('app ') && !place.endsWith('--reference');
    const isRejected = isShown && HIDDEN.test(text);
    if (HOSTILE_LINES.includes(text))
      expect([place, text, code]).toEqual([place, text, isRejected ? 1 : 0]);
    if (code !== 0) return;
    const [noun = ''] = place.split(' ');
    const { id, client_id = id } = JSON.parse(stdout) as Record<string, string>;
    const stored = await cli.json(noun, 'show', client_id ?? '');
    expect([place, stored[STORED[place] ?? '']]).toEqual([place, text.trim()]);
  }

  it(
    'stores or rejects hostile texts in each value of a command',
    async ({ task }) => {
      const { leaves } = commandTree();
      let values = 0;
      let runs = 0;
      const accepting = new Set<string>();
      for (const leaf of leaves) {
        const member = await Member.join(app());
        const post = await member.publish();
        const comment = await member.comment(post.id);
        // Without a value, the texts are sent as actor and reason.
        for (const value of [undefined, ...valuesOf(leaf)]) {
          const place = `${leaf.path} ${value?.option ?? `<${value?.name}>`}`;
          const texts = textsFor(values, { oneIn: ONE_IN });
          for (const text of value ? new Set([STATEMENT, ...texts]) : texts) {
            const typed = value?.name === 'file' ? `${folder}/${DEEP}/x-${text}` : text;
            const words = argumentsOf(leaf, value, typed, {
              client_id: member.client.clientId,
              user_id: member.user.id,
              post_id: post.id,
              comment_id: comment.id,
              request_id: 'req_01kahq5f3veqdr8bn3tdmx3q0a',
              grant_id: 'grt_01kahq5f3veqdr8bn3tdmx3q0a',
              session: '0123456789ab',
              text: PLAIN,
              secret_id: 'sec_01kahq5f3veqdr8bn3tdmx3q0a',
              // An unknown release: the other commands need the current schema.
              release: '0.0.0',
              file: '-',
              name: PLAIN,
              number: phoneOf(5000 + runs),
              uri: CALLBACK,
              scopes: 'posts.read',
              shell: 'bash',
            });
            const outcome = await cli.runWithInput(text, ...words);
            expectHarmlessOutput(outcome, `${words.join(' ')}\n${outcome.stdout}${outcome.stderr}`);
            if (value && outcome.code === 0) accepting.add(place);
            if (place in STORED) await expectStored(place, text, outcome);
            runs += 1;
          }
          values += 1;
        }
      }
      expect([...accepting].toSorted()).toEqual(FREE_TEXT.toSorted());
      reportFigure(
        task,
        `${values} values of ${leaves.length} commands, each with a hostile text of each kind, ${runs} runs`,
      );
    },
    TEST_TIMEOUT_MS,
  );

  it('stores hostile texts as actor and reason without change', async () => {
    // The commands of the previous test wrote these events.
    const events = await cli.json<Record<string, unknown>[]>('audit', 'list', '--limit', 'all');
    const own = events.filter(({ actor }) => HOSTILE_LINES.includes(String(actor)));
    expect(new Set(own.map(({ action }) => action)).size).toBeGreaterThanOrEqual(MIN_ACTIONS);
    for (const { actor, reason } of own) expect(reason).toBe(actor);
  });
});

/**
 * The command line with the required values from `known`. The text is the `chosen` value; without a chosen value, it is the actor
 * and the reason.
 */
function argumentsOf(
  leaf: CommandEntry,
  chosen: Value | undefined,
  text: string,
  known: Readonly<Record<string, string>>,
): string[] {
  const words = valuesOf(leaf)
    .filter((value) => value.isRequired || isSame(value, chosen))
    .map((value) => {
      const word = isSame(value, chosen) ? text : known[value.name];
      if (word === undefined) throw new Error(`${leaf.path} needs a <${value.name}>.`);
      return { option: value.option, word };
    });
  const actorOptions = optionsOf(leaf).includes('--reason') ? ['--actor', '--reason'] : ['--actor'];
  return [
    ...leaf.path.split(' '),
    '--json',
    '--yes',
    ...['--allow-similar-name'].filter((option) => optionsOf(leaf).includes(option)),
    ...(chosen === undefined ? actorOptions.map((option) => `${option}=${text}`) : []),
    ...words.flatMap(({ option, word }) => (option === undefined ? [] : [`${option}=${word}`])),
    '--',
    ...words.flatMap(({ option, word }) => (option === undefined ? [word] : [])),
  ];
}

function isSame(one: Value, other: Value | undefined): boolean {
  return one.option === other?.option && one.name === other?.name;
}

function phoneOf(number: number): string {
  return `+1415556${String(number).padStart(4, '0')}`;
}

function quoted(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}

/** Converts the default coordinates to JSON numbers; hostile texts stay strings. */
function withNumbers(user: Record<string, string>): Record<string, unknown> {
  const { latitude, longitude } = DEFAULTS;
  return Object.fromEntries(
    Object.entries(user).map(([name, value]) => [
      name,
      value === latitude || value === longitude ? Number(value) : value,
    ]),
  );
}
