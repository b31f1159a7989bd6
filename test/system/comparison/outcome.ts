import { returnUrl } from '../../support/responses.js';
import type { TestedServer, Case } from './tested-server.js';

/** The compared parts of a response, by name. */
export type Outcome = Record<string, unknown>;

/** The different parts of two outcomes. Missing values are undefined. */
export interface Difference {
  ours: Outcome;
  theirs: Outcome;
}

/** Sends the request of a case. The outcome is that the server asks the user, or a redirect to the app, or the status and the content of the response. */
export async function outcomeOf(testCase: Case, server: TestedServer): Promise<Outcome> {
  const response = await testCase.send(server);
  const body = await response.text();
  const { status, headers } = response;
  if (status >= 500)
    throw new Error(`${server.baseUrl} failed at "${testCase.name}": ${status} ${body}`);
  // Without a session, our server shows a link to the app instead of redirecting with the error (RFC 9700 §4.11.2).
  const link = /href="[^"]*[?;]error=/.test(body) ? returnUrl(body).href : null;
  const location = headers.get('location') ?? link;
  const common = { noStore: (headers.get('cache-control') ?? '').includes('no-store') };
  if (asksUser(server, location, body)) return { asksUser: true, ...common };
  if (location !== null)
    return { status: link === null ? status : 303, ...redirectOf(location, server), ...common };
  return {
    status,
    type: headers.get('content-type')?.split(';')[0] ?? null,
    ...bodyOf(testCase, server, body),
    challenge: headers.get('www-authenticate')?.split(' ')[0] ?? null,
    ...common,
  };
}

/** RFC 6749 §3.1 does not define how the server interacts with the user: ours shows a page, the reference redirects to one. */
function asksUser({ baseUrl }: TestedServer, location: string | null, body: string): boolean {
  if (location !== null) return new URL(location, baseUrl).pathname.startsWith('/interaction/');
  return body.includes('<form');
}

/** The target of a redirect (`to`), the place of its parameters (`in`), their values, and the names of all other parameters (`others`). */
function redirectOf(location: string, { baseUrl }: TestedServer): Outcome {
  const { protocol, host, pathname, search, hash } = new URL(location);
  const parameters = new URLSearchParams(hash === '' ? search : hash.slice(1));
  const iss = parameters.get('iss');
  return {
    to: `${protocol}//${host}${pathname}`,
    in: hash === '' ? 'query' : 'fragment',
    code: parameters.has('code'),
    error: parameters.get('error'),
    state: parameters.get('state'),
    issuer: iss === baseUrl ? 'its own' : iss,
    others: [...parameters.keys()].filter((name) => !COMPARED.has(name)),
  };
}

const COMPARED = new Set(['code', 'error', 'error_description', 'state', 'iss']);

function bodyOf(testCase: Case, server: TestedServer, text: string): Outcome {
  const body = parsed(text);
  if (body === undefined) return {};
  if (testCase.read) return testCase.read(body, server);
  const { error, scope, token_type: tokenType, active } = body;
  return { error, scope, tokenType, active, members: Object.keys(body).toSorted() };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** The different values, or undefined if all are equal. */
export function differenceOf(ours: Outcome, theirs: Outcome): Difference | undefined {
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].filter(
    (name) => JSON.stringify(ours[name]) !== JSON.stringify(theirs[name]),
  );
  const select = (outcome: Outcome): Outcome =>
    Object.fromEntries(names.map((name) => [name, outcome[name]]));
  return names.length === 0 ? undefined : { ours: select(ours), theirs: select(theirs) };
}
