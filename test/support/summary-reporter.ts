import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node';
import { addCounts, type ResponseCounts, UNDOCUMENTED } from './response-collector.js';

/**
 * Ends the output with what was held against the published document, what the run tested on, and how many tests passed, failed
 * and were skipped.
 */
export class SummaryReporter implements Reporter {
  private vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const { engines, browser, prometheus } =
      this.vitest?.getRootProject().getProvidedContext() ?? {};
    // Nothing was found because the setup failed, which Vitest tells below.
    if (engines === undefined) return;
    const names = engines.map(({ label }) => label).join(', ');
    const answers: ResponseCounts = {};
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      addCounts(answers, module.meta().answers);
      counts.failed += failuresOutsideTests(module);
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === 'pending' ? 'skipped' : state] += 1;
      }
    }
    this.vitest?.logger.log(
      `${answersLine(answers)}\n` +
        `Engines: ${names}. Browser: ${browser?.label ?? 'none'}. ${prometheus?.label ?? 'No Prometheus'}\n` +
        `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`,
    );
  }
}

function answersLine({ [UNDOCUMENTED]: others = 0, ...documented }: ResponseCounts): string {
  const keys = Object.keys(documented).toSorted();
  const total = Object.values(documented).reduce((sum, count) => sum + count, 0);
  const list = keys.map((key) => `${key}: ${documented[key]}`).join(', ');
  return `${total} answers validated against openapi.json, by operation and status: ${list || 'none'}; ${others} of no operation`;
}

/** How many files did not load and hooks threw, which no failed test shows. */
export function failuresOutsideTests(module: TestModule): number {
  const suites = [module, ...module.children.allSuites()];
  return suites.filter((suite) => suite.errors().length > 0).length;
}
