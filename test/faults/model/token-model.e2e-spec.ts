import * as fc from 'fast-check';
import { RUNS, SEED } from '../../support/arbitraries.js';
import { onEachEngine } from '../../support/database.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';
import { show } from '../figures.js';
import { IS_QUICK, times } from '../../suite.js';
import type { ClientName } from './token-request.js';
import { GRANTED } from './token-rules.js';
import { steps } from './token-steps.js';
import { STORY } from './token-story.js';
import { Tally } from './token-tally.js';
import { TokenWorld } from './token-world.js';

const SEQUENCES = RUNS ?? times(50, 4);
const BEGINNING = '2026-11-21T09:30:00.000Z';
/** What must have happened, unless so few are asked for that it may be missing. */
const OUTCOMES =
  RUNS !== undefined
    ? []
    : [
        'exchange 200',
        'exchange 400 invalid_grant',
        'refresh 200',
        'refresh answered alike',
        'refresh 400 invalid_grant',
        'revoke 200',
        'use 200',
        'use 401 invalid_token',
        'introspect 200',
        'introspect 200 active',
        'remove 200',
        'grant ended by theft',
        'grant ended by revocation',
        'grant ended by removal',
      ];

onEachEngine('Codes and tokens of two apps, and a model of their rules', (database) => {
  const app = useTestApp(database);
  let clients: Record<ClientName, TestClient>;
  beforeAll(async () => {
    clients = {
      Server: await app().addClient({ name: 'Server', scope: GRANTED }),
      Phone: await app().addClient({ name: 'Phone', scope: GRANTED, kind: 'public' }),
    };
  });

  it(
    `agree in ${SEQUENCES} sequences, whatever is sent at the same moment: some order of it explains each answer`,
    { timeout: 600_000 },
    async ({ task }) => {
      const tally = new Tally();
      await fc.assert(
        fc.asyncProperty(steps, async (sequence) => {
          app().clock.set(BEGINNING);
          const world = await TokenWorld.begin(app(), clients, tally);
          for (const step of sequence) await world.take(step);
          await world.tryAll();
        }),
        {
          seed: SEED,
          numRuns: SEQUENCES,
          plugins: [fc.unbiased()],
          examples: IS_QUICK ? [[[...STORY]]] : [],
        },
      );
      expect([...tally.outcomes.keys()]).toEqual(expect.arrayContaining(OUTCOMES));
      expect(tally.races).toBeGreaterThan(0);
      const count = (outcome: string): number => tally.outcomes.get(outcome) ?? 0;
      const ended = `${count('grant ended by theft')} grants ended by theft, ${count('grant ended by revocation')} by revocation and ${count('grant ended by removal')} by removal`;
      show(
        task,
        `${database.engine.label}: ${SEQUENCES} sequences, ${tally.answers.toLocaleString('en')} answers about codes and tokens as the model says, ${tally.races.toLocaleString('en')} times several at once, ${ended}, seed ${SEED}`,
      );
    },
  );
});
