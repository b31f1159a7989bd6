import * as fc from 'fast-check';
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/platform/clock.js';
import { GRANTED, NARROWER } from './token-rules.js';
import { CLIENTS, type ClientName, type Mistake } from './token-request.js';

export type TokenKind = 'access' | 'refresh';

/**
 * A request about one of the codes or tokens that exist when its step begins: `fromNewest` 0 is the newest. For `disconnect`,
 * `fromNewest` selects the user. `afterMs` delays the request relative to the others of its step.
 */
export type DrawnRequest = { fromNewest: number; afterMs: number } & (
  | { kind: 'exchange'; isForeign: boolean; mistake: Mistake }
  | {
      kind: 'refresh';
      isForeign: boolean;
      mistake: 'secret' | null;
      scope: string | undefined;
    }
  | { kind: 'revoke'; tokenKind: TokenKind; isForeign: boolean; mistake: 'secret' | null }
  | { kind: 'introspect'; tokenKind: TokenKind }
  | { kind: 'use' }
  | { kind: 'disconnect'; client: ClientName }
);

/** A consent, a wait, one request, or several concurrent ones. */
export type Step =
  { consent: ClientName; user: number } | { waitMs: number } | { atOnce: readonly DrawnRequest[] };

export const USER_COUNT = 2;
const MAX_AT_ONCE = 8;
const LATEST_START_MS = 6;
const MAX_STEPS = 30;

const shared = {
  fromNewest: mostly({ usual: 0, weight: 1, rare: [0, 1, 2, 3] }),
  afterMs: mostly({
    usual: 0,
    weight: 1,
    rare: Array.from({ length: LATEST_START_MS }, (_, index) => index + 1),
  }),
};
const isForeign = mostly({ usual: false, weight: 9, rare: [true] });
const wrongSecret = mostly({ usual: null, weight: 19, rare: ['secret'] });
const mistake = mostly({ usual: null, weight: 4, rare: ['secret', 'redirect_uri', 'verifier'] });
const scope = mostly({ usual: undefined, weight: 3, rare: [GRANTED, NARROWER, 'posts.write'] });

const drawn: fc.Arbitrary<DrawnRequest> = fc.oneof(
  weighted(
    20,
    fc.record({ kind: fc.constant('refresh'), ...shared, isForeign, mistake: wrongSecret, scope }),
  ),
  weighted(10, fc.record({ kind: fc.constant('exchange'), ...shared, isForeign, mistake })),
  weighted(10, fc.record({ kind: fc.constant('use'), ...shared })),
  weighted(
    4,
    fc.record({
      kind: fc.constant('revoke'),
      tokenKind: mostly({ usual: 'access', weight: 2, rare: ['refresh'] }),
      ...shared,
      isForeign,
      mistake: wrongSecret,
    }),
  ),
  weighted(
    3,
    fc.record({
      kind: fc.constant('introspect'),
      tokenKind: fc.constantFrom('access', 'refresh'),
      ...shared,
    }),
  ),
  weighted(
    1,
    fc.record({ kind: fc.constant('disconnect'), ...shared, client: fc.constantFrom(...CLIENTS) }),
  ),
);

/** Most waits end just before, at or just after the end of a lifetime or grace period. */
const waitMs = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      1,
      2 * SECOND,
      2 * SECOND + 1,
      10 * SECOND - 1,
      10 * SECOND,
      30 * SECOND,
      30 * SECOND + 1,
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom(5 * MINUTE - 1, 5 * MINUTE, HOUR, 30 * DAY) },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      atOnce: fc.array(drawn, { minLength: 1, maxLength: MAX_AT_ONCE, size: 'max' }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ atOnce: fc.tuple(drawn) }) },
  { weight: 2, arbitrary: fc.record({ waitMs }) },
  {
    weight: 2,
    arbitrary: fc.record({ consent: fc.constantFrom(...CLIENTS), user: fc.nat(USER_COUNT - 1) }),
  },
);

export const steps: fc.Arbitrary<Step[]> = fc.array(step, {
  minLength: 1,
  maxLength: MAX_STEPS,
  size: 'max',
});

function weighted(weight: number, arbitrary: fc.Arbitrary<DrawnRequest>) {
  return { weight, arbitrary };
}

const newest = { fromNewest: 0, afterMs: 0 };
const secondNewest = { fromNewest: 1, afterMs: 0 };
const honest = { isForeign: false, mistake: null };
const refresh = { kind: 'refresh', ...honest, scope: undefined } as const;
const introspect: DrawnRequest = { kind: 'introspect', tokenKind: 'access', ...newest };
const use: DrawnRequest = { kind: 'use', ...newest };

/**
 * A sequence with all required outcomes, for quick runs, where random sequences may lack some. It assumes one unused code for each
 * client, which `TokenComparison.begin` creates.
 */
export const SCENARIO: readonly Step[] = [
  alone({ kind: 'exchange', ...secondNewest, ...honest }),
  { atOnce: [use, introspect] },
  alone({ ...refresh, ...newest }),
  // Another worker sent the token at once, and a response was lost.
  alone({ ...refresh, ...secondNewest }),
  { waitMs: 2 * SECOND + 1 },
  alone({ ...refresh, ...secondNewest }),
  { waitMs: 2 * SECOND + 1 },
  // The token was stolen.
  alone({ ...refresh, ...secondNewest }),
  alone(use),
  alone(introspect),
  alone({ kind: 'exchange', ...newest, ...honest }),
  alone({ kind: 'exchange', ...newest, ...honest }),
  alone({ kind: 'revoke', tokenKind: 'access', ...newest, ...honest }),
  alone({ kind: 'disconnect', ...newest, client: 'Phone' }),
  { consent: 'Server', user: 1 },
  alone({ kind: 'exchange', ...newest, ...honest }),
  alone({ kind: 'revoke', tokenKind: 'refresh', ...newest, ...honest }),
];

function alone(request: DrawnRequest): Step {
  return { atOnce: [request] };
}

/** The usual value with this weight, or one of the rare values, which together have weight 1. Shrinks to the usual value. */
function mostly<const T, const R>({
  usual,
  weight,
  rare,
}: {
  usual: T;
  weight: number;
  rare: readonly R[];
}): fc.Arbitrary<T | R> {
  return fc.oneof(
    { weight, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  );
}
