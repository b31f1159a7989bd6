import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { freePort } from './free-port.js';
import { findProgram, type Program, versionLine } from './programs.js';
import { json } from './responses.js';

const START_TIMEOUT_MS = 15_000;

/** The job name in the alert rules. */
export const JOB = 'developer-platform';

/** One series of a result: its labels and its value. */
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

/** A Prometheus server on loopback for one test. */
export interface Prometheus {
  /** Evaluates an expression. @throws with the message of Prometheus when it is invalid */
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

/** Starts Prometheus, which scrapes `target` (host and port) and evaluates the alert rules every second. */
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
  const stderr: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await waitUntilReady(`http://${address}/-/ready`);
  } catch (error) {
    await stop();
    throw new Error(`Prometheus did not start.\n${stderr.join('')}`, { cause: error });
  }
  return {
    query: async (expression) =>
      (
        await fetchApi<{ result: Sample[] }>(
          address,
          `query?${new URLSearchParams({ query: expression })}`,
        )
      ).result,
    rules: async () =>
      (await fetchApi<{ groups: { rules: Rule[] }[] }>(address, 'rules')).groups.flatMap(
        ({ rules }) => rules,
      ),
    stop,
  };
}

/** The configuration of Prometheus. Its JSON is valid YAML. */
function configuration(target: string, rulesFile: string): object {
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [rulesFile],
    scrape_configs: [{ job_name: JOB, static_configs: [{ targets: [target] }] }],
  };
}

async function fetchApi<T>(address: string, path: string): Promise<T> {
  const response = await fetch(`http://${address}/api/v1/${path}`);
  const { data, error } = await json<{ data: T; error?: string }>(response);
  if (error !== undefined) throw new Error(error);
  return data;
}

async function waitUntilReady(url: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while ((await fetch(url).catch(() => undefined))?.status !== 200) {
    if (Date.now() > deadline) throw new Error(`${url} did not return 200 in time.`);
    await sleep(50);
  }
}

/** The metrics of one scrape. */
export interface ScrapedMetrics {
  /** Returns the value of the first series with these labels, or undefined. */
  metric(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** The label names of all series of this name. */
  labels(name: string): string[];
}

interface Series {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Reads all metrics at a URL. */
export async function scrape(metricsUrl: string): Promise<ScrapedMetrics> {
  const series = parseSeries(await (await fetch(metricsUrl)).text());
  const metric = (
    name: string,
    labels: Readonly<Record<string, string>> = {},
  ): number | undefined =>
    series.find(
      (one) =>
        one.name === name &&
        Object.entries(labels).every(([label, value]) => one.labels[label] === value),
    )?.value;
  const labels = (name: string): string[] =>
    series.filter((one) => one.name === name).flatMap((one) => Object.keys(one.labels));
  return { metric, labels };
}

/** Parses the text format of Prometheus. */
function parseSeries(page: string): Series[] {
  return page
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)];
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text])),
        value: Number(value),
      };
    });
}

export const DASHBOARD = 'ops/grafana-dashboard.json';
export const ALERTS_FILE = 'ops/alerts.yaml';

/** A PromQL expression and the panel or alert that contains it. */
export interface Expression {
  where: string;
  text: string;
}

/** Values that take the place of Grafana's variables. */
const VARIABLES: Readonly<Record<string, string>> = {
  $job: 'developer-platform',
  $instance: '.*',
  $__rate_interval: '10s',
};

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

/** The expressions of every panel, with Grafana's variables replaced. */
export async function dashboardExpressions(): Promise<Expression[]> {
  const { panels } = JSON.parse(await readFile(DASHBOARD, 'utf8')) as { panels: Panel[] };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      where: `the panel "${title}"`,
      text: expr.replaceAll(/\$\w+/g, (name) => VARIABLES[name] ?? name),
    })),
  );
}

export interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}

export async function alerts(): Promise<Alert[]> {
  const { groups } = parse(await readFile(ALERTS_FILE, 'utf8')) as { groups: { rules: Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** The selectors of an expression, such as `up{job="a"}`. Every metric in our expressions has braces. */
export function selectorsOf(expression: string): string[] {
  return [...expression.matchAll(/\b[a-z]\w*\{[^}]*\}/g)].map(([selector]) => selector);
}

/** The labels in the `by` clauses of an expression. */
export function groupingOf(expression: string): string[] {
  return [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  );
}

/** The words of an expression outside selectors, `by` clauses and ranges: functions, and metrics without braces. */
export function wordsOf(expression: string): string[] {
  return (
    expression
      .replaceAll(/\b[a-z]\w*\{[^}]*\}/g, ' ')
      .replaceAll(/\bby \([^)]*\)/g, ' ')
      .replaceAll(/\[\w+\]/g, ' ')
      .match(/[a-z_]\w*/g) ?? []
  );
}
