import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { sqliteFile } from '../../support/database.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';

const HERE = 'http://localhost:3000';

/** The README's blocks to paste, in their order. */
async function blocks(): Promise<string[]> {
  const readme = await readFile('README.md', 'utf8');
  return [...readme.matchAll(/^```sh walk\n(.*?)^```$/gms)].map(([, block = '']) => block);
}

/** What the blocks print, pasted into one shell, block by block. */
async function pasted(script: string, env: Record<string, string>): Promise<string> {
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

describe('The walk of the README', () => {
  const { url } = sqliteFile();
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await startProcess({ url, env: { DEMO: '1', LOG_LEVEL: 'warn' } });
  });
  afterAll(async () => {
    await service?.stop();
  });

  it('does what it says when its blocks are pasted in order', async () => {
    const walk = await blocks();
    expect(walk.length).toBeGreaterThan(8);
    const script = walk.map((block, number) => `echo "# block ${number}"\n${block}`).join('\n');
    expect(script).toContain(HERE);
    const printed = await pasted(`set -euo pipefail\n${script.replaceAll(HERE, service.baseUrl)}`, {
      DATABASE_URL: url,
    });
    const answers = printed.split(/^# block \d+\n/m).slice(1);
    expect(answers.map((answer) => answer.match(/^\d{3}$/gm)?.join(' ') ?? '')).toEqual([
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
    expect(answers[1]).toContain('"name":"Ana Lee"');
    expect(answers[2]).toContain('"content":"Hello from the README"');
    expect(answers[3]).toMatch(/^idempotency-replayed: true\r?$/im);
    expect(answers[3]).toMatch(/^ratelimit: "posts-month";r=\d+;t=\d+\r?$/im);
    expect(answers[3]).toContain('"period":');
    expect(answers[4]).toContain('"meta":{"page":1,"limit":2,"total":4}');
    expect(answers[5]).toContain('"likes":0,"comments":0');
    expect(answers[6]).toContain('"text":"Count me in!"');
    expect(answers[7]).toContain('"deleted":true');
    expect(answers[8]).toContain('"error":"not_found"');
    expect(answers[9]).toContain('"error":"invalid_request"');
    expect(answers[10]).toContain('"error":"unauthorized"');
  });
});
