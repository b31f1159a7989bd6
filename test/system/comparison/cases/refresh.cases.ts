// Each case is sent to both servers; the test compares the responses.

import {
  type Case,
  exchange,
  flow,
  refresh,
  refreshNewest,
  type Step,
  wait,
} from '../tested-server.js';

const DAY = 86_400;
const NARROW = { scope: 'posts.read' };
const UNKNOWN_SCOPE = { scope: 'posts.delete' };

/** Steps after the exchange of a code. */
const after = (
  name: string,
  proves: string,
  steps: readonly Step[],
  options?: Parameters<typeof flow>[3],
): Case => flow(`refresh: ${name}`, proves, [exchange(), ...steps], options);

/** The refresh grant (RFC 6749 §6, RFC 9700 §4.14.2). */
export const refreshCases: readonly Case[] = [
  after('a valid token of a confidential app', 'O91', [refresh()]),
  after('a valid token of a public app', 'O91', [refresh()], { app: 'pocket' }),
  after('refresh_token missing', 'O92', [refresh({ refresh_token: undefined })]),
  after('refresh_token unknown', 'O92', [refresh({ refresh_token: `svcrt_${'x'.repeat(43)}` })]),
  after('refresh_token twice', 'O65', [refresh({ refresh_token: ['a', 'b'] })]),
  after('scope narrower', 'O94', [refresh(NARROW)]),
  after('scope empty', 'O66', [refresh({ scope: '' })]),
  after('scope the same', 'O91', [refresh(NARROW)], { link: NARROW }),
  after('scope wider', 'O95', [refresh({ scope: 'posts.read posts.write' })], { link: NARROW }),
  after('scope unknown', 'O95', [refresh(UNKNOWN_SCOPE)]),
  after('scope of spaces', 'O95', [refresh({ scope: ' ' })]),
  after('an access token', 'O92', [refresh((first) => ({ refresh_token: first.access_token }))]),
  after('the token of another app', 'O93', [refresh({}, 'library')]),
  after('a token that another app tried', 'O93', [refresh({}, 'library'), refresh()]),
  after('a token after a request for an unknown scope', 'O95', [refresh(UNKNOWN_SCOPE), refresh()]),
  after('the full scope after a narrower one', 'O94', [refresh(NARROW), refreshNewest]),
  after('a token that was unused for 31 days', 'O102', [wait(31 * DAY), refresh()]),
  after('a used token at once', 'O96', [refresh(), refresh()]),
  after('a used token 31 seconds later', 'O97', [refresh(), wait(31), refresh()]),
  after('a used token whose successor was used', 'O97', [refresh(), refreshNewest, refresh()]),
  after('the successor of a token that was sent twice', 'O96', [
    refresh(),
    refresh(),
    refreshNewest,
  ]),
  after('the successor of a token that was sent again 31 seconds later', 'O97', [
    refresh(),
    wait(31),
    refresh(),
    refreshNewest,
  ]),
];
