import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envFileProblems, envFilesOf } from './env-files.js';

describe('envFilesOf', () => {
  it.each([
    [['--env-file=.env'], ['.env']],
    [['--env-file', '.env'], ['.env']],
    [['--env_file=.env'], ['.env']],
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
    'A="x"#y',
    "A='x'#y",
    'A=""#y',
    'A="x"y#z',
    'A="x" y#z',
    'A="x\\"#y"',
    'A="x#y',
    'A=`x#y`',
    'A=a\\ #b',
    'A=x# y',
    'A= x#y',
    'A =x#y',
    'A = "x#y"',
    'export A="x#y"',
    'A="x\nA=#y"',
    "A='x\nA=#y'\nC=c",
    '\ufeffA=x#y',
  ])('reports the line %j exactly if Node.js and a shell read different values', (line) => {
    writeFileSync(file, `B=b\n${line}\n`);
    const read = { env: { PATH: process.env.PATH }, encoding: 'utf8' } as const;
    const byNode = spawnSync(
      process.execPath,
      [`--env-file=${file}`, '-e', 'process.stdout.write(process.env.A ?? "not set")'],
      read,
    );
    // A syntax error ends the shell.
    const byShell = spawnSync(
      'sh',
      ['-c', `set -a; . "${file}" 2>/dev/null; printf %s "\${A-not set}"`],
      read,
    );
    const message = `A: Node.js and shells read different values from line 2 of ${file}; write it as A='…'`;
    expect(byNode.status).toBe(0);
    expect(envFileProblems([file])).toEqual(
      byNode.stdout === byShell.stdout ? [] : [{ name: 'A', message }],
    );
  });

  it.each(['.env.example', 'deploy/compose.env.example', 'docs/operate/ten-steps.md'])(
    'finds nothing in %s, also in the lines that are comments, and quotes around URLs, names, colours and secrets',
    (example) => {
      const lines = readFileSync(example, 'utf8').replaceAll(/^# ?/gm, '');
      writeFileSync(file, lines);
      expect(lines.match(/^[A-Z][A-Z_]+=/gm)?.length).toBeGreaterThan(3);
      expect(envFileProblems([file])).toEqual([]);
      const mayContainHash = /^\w*(?:URL|NAME|COLOR|LOGO|SECRET|PEPPER|TOKEN)=(?!["']).*/gm;
      expect(lines.match(mayContainHash)).toBeNull();
    },
  );

  it('reads lines that end like on Windows, and ignores missing files', () => {
    writeFileSync(file, 'A="x#y"\r\nB=x\r\nC=x#y\r\n');
    expect(envFileProblems([file, `${file}.none`])).toEqual([
      { name: 'C', message: expect.stringContaining('line 3') },
    ]);
  });
});
