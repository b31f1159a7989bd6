import { SECOND } from '../../../src/common/clock.js';
import type { Drawn, Step } from './token-steps.js';

const newest = { fromNewest: 0, afterMs: 0 };
const before = { fromNewest: 1, afterMs: 0 };
const honest = { isForeign: false, mistake: null };
const refresh = { kind: 'refresh', ...honest, scope: undefined } as const;
const introspect: Drawn = { kind: 'introspect', of: 'access', ...newest };
const use: Drawn = { kind: 'use', ...newest };

/** One sequence with all that has to happen, for where a few by chance may lack some of it. It begins with a code for each client. */
export const STORY: readonly Step[] = [
  one({ kind: 'exchange', ...before, ...honest }),
  { atOnce: [use, introspect] },
  one({ ...refresh, ...newest }),
  // The answer was lost.
  one({ ...refresh, ...before }),
  { waitMs: 30 * SECOND + 1 },
  // Somebody else has the token.
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

function one(drawn: Drawn): Step {
  return { atOnce: [drawn] };
}
