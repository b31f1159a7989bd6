/** Fixed, so that a run says about a change what it said before it; `npm run test:fuzz` chooses one at random. */
const USUAL = 20_261_121;

const { FUZZ_SEED, FUZZ_RUNS } = process.env;

/** What the requests of this run are made from. The same seed makes the same requests. */
export const SEED =
  FUZZ_SEED === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(FUZZ_SEED ?? USUAL);

/** How many requests of a kind are made to each operation, where it is not left to the test. */
export const RUNS = FUZZ_RUNS === undefined ? undefined : Number(FUZZ_RUNS);

console.info(`Requests are made with FUZZ_SEED=${SEED}.`);
