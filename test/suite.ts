/** What a run of Vitest tests; `test/run.js` and the scripts of package.json set it. `npm test` sets nothing. */
export type Suite = 'rules' | 'system' | 'faults' | 'measure';

export const SUITE = (process.env.TEST_SUITE ?? 'rules') as Suite;

/** Whether this is a shorter run, as in CI, and not the whole one. */
export const IS_QUICK = process.env.TEST_EXTENT !== 'whole';

/** A number of repetitions: `whole` in a whole run, else `quick`. */
export const times = (whole: number, quick: number): number => (IS_QUICK ? quick : whole);
