import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { findProgram } from '../../support/programs.js';
import { ALERTS_FILE, alerts, DASHBOARD } from '../../support/prometheus.js';

const CASES_FILE = 'test/system/prometheus/alerts.test.yaml';
/** The address in the rules, which operators replace. */
const REPOSITORY = 'https://git.example/developer-platform';
const OPERATE_GUIDE = 'docs/operate/alerts.md';

const allAlerts = await alerts();
const names = allAlerts.map(({ alert }) => alert);
const guide = await readFile(OPERATE_GUIDE, 'utf8');

/** The sections of the operator's guide, without their subsections, by the anchor of their heading. */
const sections = new Map(
  guide
    .split(/^#+ /m)
    .map((section) => [anchorOf(section.split('\n', 1).join('')), section] as const),
);

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}

interface Case {
  promql_expr_test: { expr: string; exp_samples: unknown[] }[];
}

describe('Alerts', async () => {
  it('have unique names that begin with DevPlatform', () => {
    expect(names.filter((name) => !/^DevPlatform[A-Z]\w+$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(allAlerts)('$alert has a severity, a summary and a description', (alert) => {
    expect(alert.labels.severity).toMatch(/^(critical|warning|info)$/);
    expect(alert.annotations.summary).toMatch(/^\S.*\.$/);
    expect(alert.annotations.description).toMatch(/^[A-Z"].*\.$/);
  });

  it.each(allAlerts)(
    '$alert links to a section of docs/operate/alerts.md about it',
    ({ alert, annotations }) => {
      const [page, anchor = ''] = annotations.runbook_url.split('#');
      expect(page).toBe(`${REPOSITORY}/${OPERATE_GUIDE}`);
      expect(sections.get(anchor)).toContain(`\`${alert}\``);
    },
  );

  it.each([OPERATE_GUIDE, DASHBOARD, CASES_FILE])('are the only ones in %s', async (path) => {
    const mentioned = (await readFile(path, 'utf8')).match(/\bDevPlatform\w+/g) ?? [];
    expect(mentioned.length).toBeGreaterThan(0);
    expect(mentioned.filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe('Tests of the alerts', async () => {
  const { tests } = parse(await readFile(CASES_FILE, 'utf8')) as { tests: Case[] };
  const checks = tests.flatMap((one) => one.promql_expr_test);

  it.each(names)('have a case in which %s fires, and one in which it does not', (name) => {
    const own = checks.filter(({ expr }) => expr.includes(`"${name}"`));
    expect(own.some((check) => check.exp_samples.length > 0)).toBe(true);
    expect(own.some((check) => check.exp_samples.length === 0)).toBe(true);
  });
});

const promtool = await findProgram('promtool');
if (promtool === undefined && process.env.CI === 'true')
  throw new Error('CI needs promtool: install Prometheus.');

const title = promtool === undefined ? 'promtool (skipped: not found)' : 'promtool';
describe.skipIf(promtool === undefined)(title, () => {
  /** Runs promtool. Rejects with its output if it finds an error. */
  async function run(...parameters: string[]): Promise<string> {
    try {
      const { stdout } = await promisify(execFile)(promtool ?? '', parameters);
      return stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${stdout}${stderr}`, { cause: error });
    }
  }

  it('accepts the rules', async () => {
    expect(await run('check', 'rules', '--lint=all', '--lint-fatal', ALERTS_FILE)).toContain(
      `SUCCESS: ${names.length} rules found`,
    );
  });

  it('finds that each alert fires when it should, and only then', async () => {
    expect(await run('test', 'rules', CASES_FILE)).toContain('SUCCESS');
  }, 60_000);
});
