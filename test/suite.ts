/** The suite of a Vitest run. `test/run.js` and the scripts of package.json set `TEST_SUITE`; `npm test` does not. */
export type Suite = 'rules' | 'system' | 'faults' | 'measure';

export const SUITE = (process.env.TEST_SUITE ?? 'rules') as Suite;

/** Whether this is a shortened run, as in CI. A run without `TEST_EXTENT`, such as `npm test`, is one, too. */
export const IS_QUICK = process.env.TEST_EXTENT !== 'whole';

/** Returns `quick` in a shortened run, else `whole`. */
export const byExtent = <T>({ whole, quick }: { whole: T; quick: T }): T =>
  IS_QUICK ? quick : whole;
