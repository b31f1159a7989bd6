/** What the requests of this run are made from. The same seed makes the same requests: `FUZZ_SEED=… npx vitest run fuzz`. */
export const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

console.info(`Requests are made with FUZZ_SEED=${SEED}.`);

/** How many requests of a kind are made to each operation, where it is not left to the test: `FUZZ_RUNS`. */
export const RUNS = process.env.FUZZ_RUNS === undefined ? undefined : Number(process.env.FUZZ_RUNS);
