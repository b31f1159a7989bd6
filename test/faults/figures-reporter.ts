import { readdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node';
import { RELIABILITY_PAGE, reliabilityPage } from '../reliability/page.js';
import { failuresOutsideTests } from '../support/summary-reporter.js';
import { type Figures, FIGURES_FILE, type Outcome, REGISTRY_UNAVAILABLE } from './figures.js';
import { IS_QUICK } from '../suite.js';

const SERVERS = { mysql: 'MySQL', mariadb: 'MariaDB' };
const NO_RESULTS: Outcome = { passed: 0, failed: 0, skipped: 0, figures: [] };

/**
 * Prints a line for each folder of fault tests. With WRITE_PAGES=1, also stores the figures and regenerates docs/reliability.md: only after a
 * whole run that passed and skipped nothing but the test of the npm registry.
 */
export class FiguresReporter implements Reporter {
  private vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.vitest = vitest;
  }

  async onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
  ): Promise<void> {
    const { engines = [] } = this.vitest?.getRootProject().getProvidedContext() ?? {};
    const absent = Object.entries(SERVERS)
      .filter(([kind]) => !engines.some((engine) => engine.kind === kind))
      .map(([, name]) => `anything on ${name}`);
    const skippedTests = [...absent, ...modules.flatMap(unexpectedSkips)];
    const files: Figures['files'] = {};
    let isWholeAndPassed = !IS_QUICK && errors.length === 0;
    const entries = await readdir('test/faults', { withFileTypes: true });
    for (const { name: folder } of entries.filter((entry) => entry.isDirectory())) {
      const outcomes = modules
        .filter(({ moduleId }) => moduleId.includes(`/test/faults/${folder}/`))
        .map((module): [string, Outcome] => [fileOf(module), outcomeOf(module)]);
      for (const [file, { passed, figures }] of outcomes) files[file] = { passed, figures };
      const total = outcomes.map(([, outcome]) => outcome).reduce(add, NO_RESULTS);
      if (outcomes.length > 0) this.vitest?.logger.log(summaryLine(folder, total, absent));
      isWholeAndPassed &&= total.failed === 0 && total.passed > 0;
    }
    if (process.env.WRITE_PAGES !== '1') return;
    if (!isWholeAndPassed)
      throw new Error('Figures are stored only after a whole run that passes.');
    if (skippedTests.length > 0)
      throw new Error(
        `Figures are stored only after a run that skips nothing but the test of the npm registry. Skipped:\n${skippedTests.join('\n')}`,
      );
    const engineNames = engines.map(({ label }) => label).join(', ');
    const day = new Date().toISOString().slice(0, 10);
    const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'an unknown processor'}`;
    const measured = `${day}, ${machine}, Node ${process.version}, ${engineNames}`;
    await writeFile(FIGURES_FILE, `${JSON.stringify({ measured, files }, null, 2)}\n`);
    await writeFile(RELIABILITY_PAGE, await reliabilityPage());
  }
}

function fileOf({ moduleId }: TestModule): string {
  return relative(process.cwd(), moduleId);
}

function outcomeOf(module: TestModule): Outcome {
  const outcome = { ...NO_RESULTS, failed: failuresOutsideTests(module), figures: [] as string[] };
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    outcome[state === 'pending' ? 'skipped' : state] += 1;
    outcome.figures.push(...(test.meta().figures ?? []));
    if (state === 'skipped') outcome.figures.push(skippedText(test.fullName));
  }
  return outcome;
}

/** Skipped tests, except the one that needs the npm registry while that does not respond. */
function unexpectedSkips(module: TestModule): string[] {
  return [...module.children.allTests('skipped')]
    .filter((test) => {
      const result = test.result();
      return result.state === 'skipped' && result.note !== REGISTRY_UNAVAILABLE;
    })
    .map(({ fullName }) => `${fileOf(module)}: ${fullName}`);
}

function add(one: Outcome, other: Outcome): Outcome {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
    figures: [...one.figures, ...other.figures],
  };
}

function summaryLine(folder: string, outcome: Outcome, absent: readonly string[]): string {
  const { passed, failed, skipped, figures } = outcome;
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  return [`${folder}: ${counts}`, ...figures, ...absent.map(skippedText)].join('; ');
}

function skippedText(skipped: string): string {
  return `skipped in this run: ${skipped}`;
}
