import { Readable } from 'node:stream';
import { runCommandLine } from '../../src/cli/program.js';
import { CLEAR_LINE } from '../../src/cli/session.js';
import { onOneEngine, type TestDatabase } from '../support/database.js';
import { recordCalls } from '../support/fixtures.js';
import { useTestApp } from '../support/test-app.js';

const DAY = 86_400_000;

onOneEngine('Progress of long commands', (database) => {
  const app = useTestApp(database);

  beforeAll(async () => {
    await recordCalls(app().dataSource, [new Date(), new Date(Date.now() - 401 * DAY)]);
  });

  it.each([
    [['usage', 'rollup'], /^Aggregating the calls of \d{4}-\d\d-\d\d …$/],
    [['quota', 'reconcile'], /^Counting the calls of \d{4}-\d\d-\d\dT\d\dh …$/],
    [['prune', '--dry-run'], /^Counting \w+ …$/],
    [['prune'], /^Aggregating the calls of \d{4}-\d\d-\d\d …$/],
    [['doctor'], /^Checking .+ …$/],
    [['user', 'import', '-', '--format', 'csv'], /^\d+ lines, \d+\/s$/],
  ])('of %j is shown at a terminal only, and cleared before the result', async (words, line) => {
    const atTerminal = await printedBy(database, words, { isTTY: true });
    const [first = '', ...others] = atTerminal.split(CLEAR_LINE).slice(1);
    expect(first).toMatch(line);
    expect(others.at(-1)).not.toContain('…');
    expect(await printedBy(database, words, { isTTY: false })).not.toContain('…');
    expect(await printedBy(database, [...words, '--json'], { isTTY: true })).not.toContain('…');
  });

  it('of "db migrate" is shown while migrations are pending', async () => {
    expect(await printedBy(database, ['db', 'migrate'], { isTTY: true })).toBe('');
    // Marks an applied migration as pending. That migration can run again.
    await app().dataSource.query(`DELETE FROM migrations WHERE name LIKE 'Operate%'`);
    expect(await printedBy(database, ['db', 'migrate'], { isTTY: true })).toBe(
      `${CLEAR_LINE}Running 1 migration …${CLEAR_LINE}`,
    );
  });
});

/** Runs a command and returns what it prints on standard error. */
async function printedBy(
  { url }: TestDatabase,
  words: string[],
  { isTTY }: { isTTY: boolean },
): Promise<string> {
  let printed = '';
  await runCommandLine(words, {
    env: { NODE_ENV: 'test', DATABASE_URL: url },
    stdin: Readable.from(['phone,name\n+14155550101,Ana\n']),
    stdout: { write: (_text, done) => done?.() },
    stderr: { isTTY, write: (text) => (printed += text) },
  });
  return printed;
}
