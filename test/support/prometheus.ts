import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.js';
import { json } from './json.js';
import { findProgram, versionLine } from './programs.js';
import type { Program } from './provided.js';

const START_MS = 15_000;

/** The name that the alert rules expect the service to be scraped by. */
export const JOB = 'developer-platform';

/** One series of an answer: its labels, and what it stands at. */
export interface Sample {
  metric: Readonly<Record<string, string>>;
  value: [time: number, value: string];
}

/** An alert as Prometheus evaluates it. */
export interface Rule {
  name: string;
  query: string;
  health: 'ok' | 'err' | 'unknown';
  lastError?: string;
}

/** A Prometheus on the loopback interface, which belongs to one test. */
export interface Prometheus {
  /** What the expression gives now. @throws with its words when Prometheus does not understand it */
  query(expression: string): Promise<Sample[]>;
  rules(): Promise<Rule[]>;
  stop(): Promise<void>;
}

/** The Prometheus on the PATH. */
export async function findPrometheus(): Promise<Program | null> {
  const path = await findProgram('prometheus');
  if (path === undefined) return null;
  const line = await versionLine(path);
  return { path, label: `Prometheus ${/\d+(\.\d+)+/.exec(line)?.[0] ?? line}` };
}

/** Starts one that scrapes `target`, a host and port, every second, and evaluates the alerts of the file as often. */
export async function startPrometheus(
  program: string,
  { target, rulesFile }: { target: string; rulesFile: string },
): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-prometheus-'));
  const config = join(folder, 'prometheus.json');
  await writeFile(config, JSON.stringify(configuration(target, resolve(rulesFile))));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    program,
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const said: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(`http://${address}/-/ready`);
  } catch (error) {
    await stop();
    throw new Error(`Prometheus did not start.\n${said.join('')}`, { cause: error });
  }
  return {
    query: async (expression) =>
      (
        await ask<{ result: Sample[] }>(
          address,
          `query?${new URLSearchParams({ query: expression })}`,
        )
      ).result,
    rules: async () =>
      (await ask<{ groups: { rules: Rule[] }[] }>(address, 'rules')).groups.flatMap(
        ({ rules }) => rules,
      ),
    stop,
  };
}

/** JSON is YAML, too. */
function configuration(target: string, rulesFile: string): object {
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [rulesFile],
    scrape_configs: [{ job_name: JOB, static_configs: [{ targets: [target] }] }],
  };
}

async function ask<T>(address: string, path: string): Promise<T> {
  const answer = await fetch(`http://${address}/api/v1/${path}`);
  const { data, error } = await json<{ data: T; error?: string }>(answer);
  if (error !== undefined) throw new Error(error);
  return data;
}

async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + START_MS;
  while ((await fetch(url).catch(() => undefined))?.status !== 200) {
    if (Date.now() > deadline) throw new Error(`${url} did not answer 200 in time.`);
    await sleep(50);
  }
}
