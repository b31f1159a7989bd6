import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Substrings of the paths of the slowest test files, slowest first. */
const LONGEST = [
  'clients/languages',
  'service-killed',
  'model/',
  'database-outage/faults',
  'database-killed',
  'primary-killed',
  'faults/upgrade/',
  'bulkhead',
  'attacks/injection',
  'fuzz',
  'docs/operate',
  'system/generators/',
  'system/browser/',
  'system/processes/',
  'system/races/',
  'cli/user-erase',
  'cli/reassigned-phones',
  'docs/guide-samples',
  'database/migrations',
  'cli/audited-commands',
  'oauth/prune',
  'sign-in-rate-limits',
  'otp-limits',
  'consent-decision',
  'token-limits',
];

/** Runs the slowest files first, so that all workers end at about the same time. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((part) => moduleId.includes(part));
  return rank < 0 ? LONGEST.length : rank;
}
