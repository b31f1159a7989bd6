import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { sqliteFile } from '../../support/database.js';
import { type ServiceProcess, startProcess } from '../../support/service-process.js';

/** The host of the service in the documentation. */
const DOCUMENTED_HOST = 'localhost:3000';

/** The code blocks of a page with this label, in order. */
async function blocks(page: string, label: string): Promise<string[]> {
  const text = await readFile(page, 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${label}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, block = '']) => block,
  );
}

/** Runs the script in a shell and returns its output. */
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

/** Starts the service with demo data before the tests of a `describe` block, and stops it after them. */
function useDemo(databaseUrl: string): () => ServiceProcess {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await startProcess({ url: databaseUrl, env: { DEMO: '1', LOG_LEVEL: 'warn' } });
  });
  afterAll(() => service?.stop());
  return () => service;
}

function hostOf({ baseUrl }: ServiceProcess): string {
  return new URL(baseUrl).host;
}

/** A JSON body with placeholders for the values that differ in each run. */
function withPlaceholders(body: string): object {
  const text = body
    .replaceAll(/post_\w{26}/g, 'post_ID')
    .replaceAll(/http:\/\/[^/"]+/g, 'http://HOST')
    .replaceAll(/"\d{4}-\d\d(-\d\dT[\d:.]+Z)?"/g, '"TIME"');
  return JSON.parse(text) as object;
}

describe('Commands of the README', () => {
  const { url: databaseUrl } = sqliteFile();
  const service = useDemo(databaseUrl);

  it('print the responses that the README shows', async () => {
    const calls = await blocks('README.md', 'sh walk');
    const shown = await blocks('README.md', 'json');
    expect(calls).toHaveLength(3);
    const script = calls.join('\necho\n').replaceAll(DOCUMENTED_HOST, hostOf(service()));
    const printed = await runInShell(`set -euo pipefail\n${script}`, { DATABASE_URL: databaseUrl });
    const responses = printed.trim().split('\n');
    expect(responses.map(withPlaceholders)).toEqual(shown.map(withPlaceholders));
  });
});

describe('Commands of the walkthrough', () => {
  const { url: databaseUrl } = sqliteFile();
  const service = useDemo(databaseUrl);

  it('work in order', async () => {
    const walk = await blocks('docs/walkthrough.md', 'sh walk');
    expect(walk.length).toBeGreaterThan(8);
    const script = walk.map((block, index) => `echo "# block ${index}"\n${block}`).join('\n');
    expect(script).toContain(DOCUMENTED_HOST);
    const printed = await runInShell(
      `set -euo pipefail\n${script.replaceAll(DOCUMENTED_HOST, hostOf(service()))}`,
      {
        DATABASE_URL: databaseUrl,
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
      '200',
      '429',
    ]);
    expect(responses[1]).toContain('"name":"Ana Lee"');
    expect(responses[2]).toContain('"content":"Hello from the walkthrough"');
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
    expect(responses[11]).toContain('"meta":{"limit":3,');
    expect(responses[12]).toContain('"error":"quota_exceeded"');
  });
});
