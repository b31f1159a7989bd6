import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node';
import { failuresOutsideTests } from '../support/failures-outside-tests.js';
import { RELIABILITY_PAGE, reliabilityPage } from '../support/reliability-table.js';
import { FIGURES_FILE, UNANSWERED, type Figures } from './figures.js';
import { IS_QUICK, PROMISES } from './promises.js';

const SERVERS = { mysql: 'MySQL', mariadb: 'MariaDB' };

interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  figures: string[];
  /** What was skipped for want of something on this machine. */
  lacking: string[];
}

/** Ends the output with a line for each promise, and keeps the figures of a whole run that passed and lacked nothing, when told to. */
export class FiguresReporter implements Reporter {
  private vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.vitest = vitest;
  }

  async onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
  ): Promise<void> {
    const figures: Figures['figures'] = {};
    const lacking: string[] = [];
    let isWhole = !IS_QUICK && errors.length === 0;
    for (const promise of Object.keys(PROMISES)) {
      const outcome = outcomeOf(
        modules.filter(({ moduleId }) => moduleId.includes(`/test/faults/${promise}/`)),
      );
      const { passed, failed, skipped } = outcome;
      if (passed + failed + skipped > 0) this.vitest?.logger.log(lineOf(promise, outcome));
      isWhole &&= outcome.failed === 0 && outcome.passed > 0;
      figures[promise] = outcome.figures;
      lacking.push(...outcome.lacking.map((name) => `${promise}: ${name}`));
    }
    const { engines = [] } = this.vitest?.getRootProject().getProvidedContext() ?? {};
    for (const [kind, name] of Object.entries(SERVERS))
      if (!engines.some((engine) => engine.kind === kind))
        this.vitest?.logger.log(`not looked at here: anything on ${name}`);
    if (process.env.WRITE_PAGES !== '1') return;
    if (!isWhole) throw new Error('Figures are kept of whole runs that pass only.');
    if (lacking.length > 0)
      throw new Error(
        `Figures are kept of runs that skip nothing. Skipped:\n${lacking.join('\n')}`,
      );
    const names = engines.map(({ label }) => label).join(', ');
    const day = new Date().toISOString().slice(0, 10);
    const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'an unknown processor'}`;
    const shown = `${day}, ${machine}, Node ${process.version}, ${names}`;
    await writeFile(FIGURES_FILE, `${JSON.stringify({ shown, figures }, null, 2)}\n`);
    await writeFile(RELIABILITY_PAGE, await reliabilityPage());
  }
}

function outcomeOf(modules: readonly TestModule[]): Outcome {
  const outcome: Outcome = { passed: 0, failed: 0, skipped: 0, figures: [], lacking: [] };
  for (const module of modules) {
    outcome.failed += failuresOutsideTests(module);
    for (const test of module.children.allTests()) {
      const result = test.result();
      outcome[result.state === 'pending' ? 'skipped' : result.state] += 1;
      outcome.figures.push(...(test.meta().figures ?? []));
      if (result.state !== 'skipped') continue;
      outcome.figures.push(`not looked at here: ${test.fullName}`);
      if (result.note !== UNANSWERED) outcome.lacking.push(test.fullName);
    }
  }
  return outcome;
}

function lineOf(promise: string, { passed, failed, skipped, figures }: Outcome): string {
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  return `${promise}: ${counts}${figures.length > 0 ? `; ${figures.join('; ')}` : ''}`;
}
