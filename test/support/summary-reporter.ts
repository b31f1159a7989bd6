import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node';
import { SUITE } from '../suite.js';
import { addCounts, type ResponseCounts, UNDOCUMENTED } from './response-collector.js';

/** Prints the number of checked responses, the engines and programs, the numbers of tests and the duration at the end of a run. */
export class SummaryReporter implements Reporter {
  private vitest: Vitest | undefined;
  private readonly startedAt = performance.now();

  onInit(vitest: Vitest): void {
    this.vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const { engines, browser, prometheus } =
      this.vitest?.getRootProject().getProvidedContext() ?? {};
    // The setup failed before it provided anything; Vitest reports that itself.
    if (engines === undefined) return;
    const responses: ResponseCounts = {};
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    const repeated: string[] = [];
    for (const module of modules) {
      addCounts(responses, module.meta().responses);
      counts.failed += failuresOutsideTests(module);
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state === 'pending' ? 'skipped' : state] += 1;
        if (test.diagnostic()?.flaky)
          repeated.push(`${module.relativeModuleId} > ${test.fullName}`);
      }
    }
    const programs = [
      `Engines: ${engines.map(({ label }) => label).join(', ')}.`,
      ...(SUITE === 'system'
        ? [`Browser: ${browser?.label ?? 'none'}.`, `${prometheus?.label ?? 'No Prometheus'}.`]
        : []),
    ];
    const seconds = Math.ceil((performance.now() - this.startedAt) / 1000);
    const duration = `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    this.vitest?.logger.log(
      [
        responsesLine(responses),
        programs.join(' '),
        `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped in ${duration}`,
        ...repeated.map((name) => `Passed only at the second attempt: ${name}`),
      ].join('\n'),
    );
  }
}

function responsesLine({ [UNDOCUMENTED]: _others, ...documented }: ResponseCounts): string {
  const total = Object.values(documented).reduce((sum, count) => sum + count, 0);
  const operations = new Set(Object.keys(documented).map((key) => key.split(' ')[0]));
  return `${total} responses of ${operations.size} operations were checked against openapi/openapi.json.`;
}

/** Counts the files and suites that failed to load or whose hooks threw: such a failure belongs to no test. */
export function failuresOutsideTests(module: TestModule): number {
  const suites = [module, ...module.children.allSuites()];
  return suites.filter((suite) => suite.errors().length > 0).length;
}
