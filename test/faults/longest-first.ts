import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** By what their path has, those that take minutes. */
const LONGEST = [
  'service-killed',
  'model/',
  'database-away/faults',
  'database-killed',
  'primary-killed',
  'upgrade/',
  'admission',
  'patterns',
  'injection',
];

/** Begins with the tests that take longest, so that none of them is left to run alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex((part) => moduleId.includes(part));
  return place < 0 ? LONGEST.length : place;
}
