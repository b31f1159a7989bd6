import type { TestModule } from 'vitest/node';

/** How many files did not load and hooks threw, which no failed test shows. */
export function failuresOutsideTests(module: TestModule): number {
  const suites = [module, ...module.children.allSuites()];
  return suites.filter((suite) => suite.errors().length > 0).length;
}
