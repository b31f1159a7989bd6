import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envFileProblems, envFilesOf } from './env-files.js';

const NAMES = new Set(['A']);

describe('envFilesOf', () => {
  it.each([
    [['--env-file=.env'], ['.env']],
    [['--env-file', '.env'], ['.env']],
    [
      ['--env-file-if-exists=a b', '--inspect', '--env-file=c'],
      ['a b', 'c'],
    ],
    [['--inspect', '--env-files=x'], []],
    [['--env-file'], []],
  ])('finds in %j the paths %j', (options, paths) => {
    expect(envFilesOf(options)).toEqual(paths);
  });
});

describe('envFileProblems', () => {
  const folder = mkdtempSync(join(tmpdir(), 'platform-env-'));
  const file = join(folder, '.env');
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    'A=x#y',
    'A=#x',
    'A=x##y',
    'A=x#y # comment',
    'export A=x#y',
    'A=x"#"y',
    'A=x\\#y',
    '  A=x#y',
    'A=x #y',
    'A=x # y#z',
    'A= # comment',
    'A="x#y"',
    "A='x#y'",
    'A="x#y" # comment',
    'A=x',
    'A=',
    '# A=x#y',
    'A="x" # y#z',
  ])('reports the line %j exactly if Node.js and a shell read different values', (line) => {
    writeFileSync(file, `B=b\n${line}\n`);
    const environment = { PATH: process.env.PATH };
    const read = { env: environment, encoding: 'utf8' } as const;
    const byNode = execFileSync(
      process.execPath,
      [`--env-file=${file}`, '-e', 'process.stdout.write(process.env.A ?? "")'],
      read,
    );
    const byShell = execFileSync(
      'sh',
      ['-c', `set -a; . "${file}" 2>/dev/null; printf %s "$A"`],
      read,
    );
    const problem = `A: Node.js ends the value in line 2 of ${file} at #, but a shell does not; write the value in quotes`;
    expect(envFileProblems([file], NAMES)).toEqual(byNode === byShell ? [] : [problem]);
  });

  it.each(['.env.example', 'deploy/compose.env.example', 'docs/operate.md'])(
    'finds nothing in %s, also in the lines that are comments',
    (example) => {
      const lines = readFileSync(example, 'utf8').replaceAll(/^# ?/gm, '');
      writeFileSync(file, lines);
      const names = new Set([...lines.matchAll(/^([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => name));
      expect(names.size).toBeGreaterThan(3);
      expect(envFileProblems([file], names)).toEqual([]);
    },
  );

  it('reads lines that end like on Windows, and ignores other variables and missing files', () => {
    writeFileSync(file, 'A="x#y"\r\nOTHER=x#y\r\nA=x#y\r\n');
    expect(envFileProblems([file, `${file}.none`], NAMES)).toEqual([
      expect.stringContaining('line 3'),
    ]);
  });
});
