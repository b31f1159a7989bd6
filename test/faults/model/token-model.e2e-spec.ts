import * as fc from 'fast-check';
import { RUNS, SEED } from '../../support/arbitraries.js';
import { onEachEngine } from '../../support/database.js';
import { rateLimits, UNLIMITED, useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { IS_QUICK, byExtent } from '../../suite.js';
import { steps, SCENARIO } from './token-steps.js';
import { Tally, TokenComparison } from './token-comparison.js';

const SEQUENCES = RUNS ?? byExtent({ whole: 50, quick: 4 });
const START_TIME = '2026-11-21T09:30:00.000Z';
/** Outcomes that have to occur, except in a run with a chosen number of sequences. */
const OUTCOMES =
  RUNS !== undefined
    ? []
    : [
        'exchange 200',
        'exchange 400 invalid_grant',
        'refresh 200',
        'refresh repeated',
        'refresh 400 invalid_grant',
        'revoke 200',
        'use 200',
        'use 401 invalid_token',
        'introspect 200',
        'introspect 200 active',
        'disconnect 200',
        'grant ended by theft',
        'grant ended by revocation',
        'grant ended by disconnection',
      ];

onEachEngine('Codes and tokens compared with a model', (database) => {
  // A sequence makes up to 240 calls within the window of these limits, and many fail. The model does not know the limits.
  const app = useTestApp(
    database,
    rateLimits({ 'token-failures': UNLIMITED, 'token-address-failures': UNLIMITED }),
  );

  it(
    `are linearizable in ${SEQUENCES} random sequences: some order of the concurrent requests explains all their responses`,
    { timeout: 600_000 },
    async ({ task }) => {
      const tally = new Tally();
      await fc.assert(
        fc.asyncProperty(steps, async (sequence) => {
          app().clock.set(START_TIME);
          const comparison = await TokenComparison.begin(app(), tally);
          for (const step of sequence) await comparison.run(step);
          await comparison.resendAll();
        }),
        {
          seed: SEED,
          numRuns: SEQUENCES,
          plugins: [fc.unbiased()],
          examples: IS_QUICK ? [[[...SCENARIO]]] : [],
        },
      );
      expect([...tally.outcomes.keys()]).toEqual(expect.arrayContaining(OUTCOMES));
      expect(tally.races).toBeGreaterThan(0);
      const count = (outcome: string): number => tally.outcomes.get(outcome) ?? 0;
      const ended = `${count('grant ended by theft')} grants ended by theft, ${count('grant ended by revocation')} by revocation and ${count('grant ended by disconnection')} by disconnection`;
      reportFigure(
        task,
        `${database.engine.label}: ${SEQUENCES} sequences, ${tally.responses.toLocaleString('en')} responses about codes and tokens as predicted, including those of ${tally.races.toLocaleString('en')} races of concurrent requests, ${ended}, seed ${SEED}`,
      );
    },
  );
});
