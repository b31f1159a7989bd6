import * as fc from 'fast-check';
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/platform/clock.js';
import { mostly } from './arbitraries.js';
import { GRANTED, NARROWER } from './token-rules.js';
import { CLIENTS, type ClientName, type Mistake } from './token-request.js';

export type TokenKind = 'access' | 'refresh';

/** A request about one of the codes or tokens that exist when it is sent: `fromNewest` 0 is the newest. */
export type Drawn = { fromNewest: number; afterMs: number } & (
  | { kind: 'exchange'; isForeign: boolean; mistake: Mistake }
  | {
      kind: 'refresh';
      isForeign: boolean;
      mistake: 'secret' | null;
      scope: string | undefined;
    }
  | { kind: 'revoke'; of: TokenKind; isForeign: boolean; mistake: 'secret' | null }
  | { kind: 'introspect'; of: TokenKind }
  | { kind: 'use' }
  | { kind: 'remove'; client: ClientName }
);

/** A consent, a wait, or concurrent requests. */
export type Step =
  { consent: ClientName; user: number } | { waitMs: number } | { atOnce: readonly Drawn[] };

/** Number of users. */
export const USERS = 2;
const MAX_AT_ONCE = 8;
const LATEST_START_MS = 6;
const MAX_STEPS = 30;

const shared = {
  fromNewest: mostly(0, 1, 0, 1, 2, 3),
  afterMs: mostly(0, 1, ...Array.from({ length: LATEST_START_MS }, (_, index) => index + 1)),
};
const isForeign = mostly(false, 9, true);
const secret = mostly(null, 19, 'secret');
const mistake = mostly(null, 4, 'secret', 'redirect_uri', 'verifier');
const scope = mostly(undefined, 3, GRANTED, NARROWER, 'posts.write');

const drawn: fc.Arbitrary<Drawn> = fc.oneof(
  of(20, fc.record({ kind: fc.constant('refresh'), ...shared, isForeign, mistake: secret, scope })),
  of(10, fc.record({ kind: fc.constant('exchange'), ...shared, isForeign, mistake })),
  of(10, fc.record({ kind: fc.constant('use'), ...shared })),
  of(
    4,
    fc.record({
      kind: fc.constant('revoke'),
      of: mostly('access', 2, 'refresh'),
      ...shared,
      isForeign,
      mistake: secret,
    }),
  ),
  of(
    3,
    fc.record({
      kind: fc.constant('introspect'),
      of: fc.constantFrom('access', 'refresh'),
      ...shared,
    }),
  ),
  of(1, fc.record({ kind: fc.constant('remove'), ...shared, client: fc.constantFrom(...CLIENTS) })),
);

/** Around the ends of lifetimes and grace periods. */
const waitMs = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(1, 10 * SECOND - 1, 10 * SECOND, 30 * SECOND, 30 * SECOND + 1),
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
    arbitrary: fc.record({ consent: fc.constantFrom(...CLIENTS), user: fc.nat(USERS - 1) }),
  },
);

export const steps: fc.Arbitrary<Step[]> = fc.array(step, {
  minLength: 1,
  maxLength: MAX_STEPS,
  size: 'max',
});

function of(weight: number, arbitrary: fc.Arbitrary<Drawn>) {
  return { weight, arbitrary };
}

const newest = { fromNewest: 0, afterMs: 0 };
const before = { fromNewest: 1, afterMs: 0 };
const honest = { isForeign: false, mistake: null };
const refresh = { kind: 'refresh', ...honest, scope: undefined } as const;
const introspect: Drawn = { kind: 'introspect', of: 'access', ...newest };
const use: Drawn = { kind: 'use', ...newest };

/** A sequence with all required outcomes, for quick runs, where random sequences may lack some. It begins with a code for each client. */
export const SCENARIO: readonly Step[] = [
  one({ kind: 'exchange', ...before, ...honest }),
  { atOnce: [use, introspect] },
  one({ ...refresh, ...newest }),
  // The response was lost.
  one({ ...refresh, ...before }),
  { waitMs: 30 * SECOND + 1 },
  // The token was stolen.
  one({ ...refresh, ...before }),
  one(use),
  one(introspect),
  one({ kind: 'exchange', ...newest, ...honest }),
  one({ kind: 'exchange', ...newest, ...honest }),
  one({ kind: 'revoke', of: 'access', ...newest, ...honest }),
  one({ kind: 'remove', ...newest, client: 'Phone' }),
  { consent: 'Server', user: 1 },
  one({ kind: 'exchange', ...newest, ...honest }),
  one({ kind: 'revoke', of: 'refresh', ...newest, ...honest }),
];

function one(request: Drawn): Step {
  return { atOnce: [request] };
}
