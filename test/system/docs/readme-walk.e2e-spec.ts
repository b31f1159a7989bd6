import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { sqliteFile } from '../../support/database.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';

const HERE = 'http://localhost:3000';

/** The blocks of the README's walk-through, in order. */
async function blocks(): Promise<string[]> {
  const readme = await readFile('README.md', 'utf8');
  return [...readme.matchAll(/^```sh walk\n(.*?)^```$/gms)].map(([, block = '']) => block);
}

/** Runs the blocks in one shell and returns their output. */
async function runInShell(script: string, env: Record<string, string>): Promise<string> {
  const shell = spawn('bash', ['-c', script], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const [code] = (await once(shell, 'close')) as [number | null];
  if (code !== 0) throw new Error(`The shell ended with ${code}:\n${printed}`);
  return printed;
}

describe('README: walk-through', () => {
  const { url } = sqliteFile();
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await startProcess({ url, env: { DEMO: '1', LOG_LEVEL: 'warn' } });
  });
  afterAll(async () => {
    await service?.stop();
  });

  it('works when its blocks are pasted in order', async () => {
    const walk = await blocks();
    expect(walk.length).toBeGreaterThan(8);
    const script = walk.map((block, number) => `echo "# block ${number}"\n${block}`).join('\n');
    expect(script).toContain(HERE);
    const printed = await runInShell(
      `set -euo pipefail\n${script.replaceAll(HERE, service.baseUrl)}`,
      {
        DATABASE_URL: url,
      },
    );
    const responses = printed.split(/^# block \d+\n/m).slice(1);
    expect(responses.map((response) => response.match(/^\d{3}$/gm)?.join(' ') ?? '')).toEqual([
      '',
      '200',
      '201',
      '201 200',
      '200 200',
      '200',
      '201 200',
      '200 200',
      '404',
      '400',
      '401',
    ]);
    expect(responses[1]).toContain('"name":"Ana Lee"');
    expect(responses[2]).toContain('"content":"Hello from the README"');
    expect(responses[3]).toMatch(/^idempotency-replayed: true\r?$/im);
    expect(responses[3]).toMatch(/^ratelimit: "posts-month";r=\d+;t=\d+\r?$/im);
    expect(responses[3]).toContain('"period":');
    expect(responses[4]).toContain('"meta":{"page":1,"limit":2,"total":4}');
    expect(responses[5]).toContain('"likes":0,"comments":0');
    expect(responses[6]).toContain('"text":"Count me in!"');
    expect(responses[7]).toContain('"deleted":true');
    expect(responses[8]).toContain('"error":"not_found"');
    expect(responses[9]).toContain('"error":"invalid_request"');
    expect(responses[10]).toContain('"error":"unauthorized"');
  });
});
