import * as fc from 'fast-check';
import { RUNS, SEED } from '../../support/arbitraries.js';
import { onEachEngine } from '../../support/database.js';
import { useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { byExtent } from '../../suite.js';
import { Actors } from './api-actors.js';
import { ApiComparison, Tally } from './api-comparison.js';
import { operations } from './api-operations.js';

const SEQUENCES = RUNS ?? byExtent({ whole: 50, quick: 10 });
const MAX_OPERATIONS = 60;
/** Statuses that have to occur, except in a run with a chosen number of sequences. */
const STATUSES = RUNS !== undefined ? [] : [200, 201, 400, 403, 404, 422, 429];
/** Two hours and two days before the next month. */
const START_TIME = '2026-11-28T22:00:00.000Z';
/** Longer than any sequence. */
const TOKEN_SECONDS = 10_000_000;

onEachEngine('Developer API compared with a model', (database) => {
  const app = useTestApp(database, { OAUTH_ACCESS_TOKEN_SECONDS: String(TOKEN_SECONDS) });

  it(
    `gives the predicted responses to ${SEQUENCES} random sequences, and holds the predicted data after each`,
    { timeout: 600_000 },
    async ({ task }) => {
      const tally = new Tally();
      const sequences = fc.commands([operations], { maxCommands: MAX_OPERATIONS, size: 'max' });
      await fc.assert(
        fc.asyncProperty(sequences, async (sequence) => {
          app().clock.set(START_TIME);
          const comparison = new ApiComparison(app(), await Actors.create(app()), tally);
          await fc.asyncModelRun(() => ({ model: comparison.model, real: comparison }), sequence);
          await comparison.readAll();
        }),
        { seed: SEED, numRuns: SEQUENCES, plugins: [fc.unbiased()] },
      );
      expect([...tally.statuses]).toEqual(expect.arrayContaining(STATUSES));
      reportFigure(
        task,
        `${database.engine.label}: ${SEQUENCES} sequences of up to ${MAX_OPERATIONS} operations, ${tally.responses.toLocaleString('en')} responses as predicted, ${tally.replays} of them replayed, seed ${SEED}`,
      );
    },
  );
});
