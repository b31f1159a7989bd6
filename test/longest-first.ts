import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Parts of the paths of test files that take longest, the longest first. */
const LONGEST = [
  'service-killed',
  'model/',
  'database-away/faults',
  'database-killed',
  'primary-killed',
  'faults/upgrade/',
  'bulkhead',
  'patterns',
  'injection',
  'fuzz',
  'docs/operate',
  'system/browser/',
  'system/processes/',
  'system/races/',
  'decision-throttling',
  'otp-limits',
  'consent-decision',
  'cli/user-erase',
  'token-failure-limits',
  'oauth/prune',
];

/** Starts with the files that take longest, so that no worker is left alone with one at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((part) => moduleId.includes(part));
  return rank < 0 ? LONGEST.length : rank;
}
