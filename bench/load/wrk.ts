import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CONNECTIONS, type LoadRequest, type Measurement } from './requests.js';

/** Generates load with wrk, which uses less CPU than autocannon. @throws if a response is missing or not 2xx */
export async function wrkLoad(
  wrk: string,
  baseUrl: string,
  requests: readonly LoadRequest[],
  seconds: number,
): Promise<Measurement> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-wrk-'));
  try {
    const script = join(folder, 'requests.lua');
    await writeFile(script, scriptOf(requests));
    const options = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', '-s', script];
    const { stdout } = await promisify(execFile)(wrk, [...options, baseUrl]);
    const failures = /Non-2xx.*|Socket errors:.*/.exec(stdout);
    if (failures) throw new Error(failures[0]);
    const responses = Number(/(\d+) requests in/.exec(stdout)?.[1]);
    const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
    return { responses, rate, p50: percentile(stdout, 50), p99: percentile(stdout, 99) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function scriptOf(requests: readonly LoadRequest[]): string {
  const lines = requests.map(({ method, path, headers, body }) => {
    const fields = Object.entries(headers).map(
      ([name, value]) => `[${luaString(name)}]=${luaString(value)}`,
    );
    return `  { ${luaString(method)}, ${luaString(path)}, { ${fields.join(', ')} }, ${body === undefined ? 'nil' : luaString(body)} },`;
  });
  return [
    'local requests = {',
    ...lines,
    '}',
    'local formatted = {}',
    'function init()',
    '  for i, r in ipairs(requests) do formatted[i] = wrk.format(r[1], r[2], r[3], r[4]) end',
    'end',
    'function request()',
    '  return formatted[math.random(#formatted)]',
    'end',
    '',
  ].join('\n');
}

/** A Lua string literal. JSON literals are valid Lua for the ASCII text of these requests. */
function luaString(value: string): string {
  return JSON.stringify(value);
}

/** A latency percentile in milliseconds. */
function percentile(output: string, percent: number): number {
  const [, value, unit] = new RegExp(`${percent}%\\s+([\\d.]+)(us|ms|s)`).exec(output) ?? [];
  const perUnit = { us: 0.001, ms: 1, s: 1000 };
  return Number(value) * perUnit[unit as keyof typeof perUnit];
}
