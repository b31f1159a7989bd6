import type { Party, Row } from './party.js';

/** What is compared of an answer: plain values by name, so that differences can be listed. */
export type Outcome = Record<string, unknown>;

/** What differs between two answers, with a value that one of them lacks as undefined. */
export interface Difference {
  ours: Outcome;
  theirs: Outcome;
}

/** What a server answers to a row: that it goes on with its user, where it redirects to, or what its body says. */
export async function outcomeOf(row: Row, party: Party): Promise<Outcome> {
  const answer = await row.ask(party);
  const body = await answer.text();
  const { status, headers } = answer;
  if (status >= 500) throw new Error(`${party.baseUrl} failed at "${row.name}": ${status} ${body}`);
  const location = headers.get('location');
  const common = { noStore: (headers.get('cache-control') ?? '').includes('no-store') };
  if (asksUser(party, location, body)) return { asksUser: true, ...common };
  if (location !== null) return { status, ...redirectOf(location, party), ...common };
  return {
    status,
    type: headers.get('content-type')?.split(';')[0] ?? null,
    ...bodyOf(row, party, body),
    challenge: headers.get('www-authenticate')?.split(' ')[0] ?? null,
    ...common,
  };
}

/** How a server asks its user is its own affair (RFC 6749 §3.1): ours with a page, the other one after a redirect to one. */
function asksUser({ baseUrl }: Party, location: string | null, body: string): boolean {
  if (location !== null) return new URL(location, baseUrl).pathname.startsWith('/interaction/');
  return body.includes('<form');
}

function redirectOf(location: string, { baseUrl }: Party): Outcome {
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

function bodyOf(row: Row, party: Party, text: string): Outcome {
  const body = parsed(text);
  if (body === undefined) return {};
  if (row.read) return row.read(body, party);
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

/** The values that are not the same, or undefined when all are. */
export function differenceOf(ours: Outcome, theirs: Outcome): Difference | undefined {
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].filter(
    (name) => JSON.stringify(ours[name]) !== JSON.stringify(theirs[name]),
  );
  const of = (outcome: Outcome): Outcome =>
    Object.fromEntries(names.map((name) => [name, outcome[name]]));
  return names.length === 0 ? undefined : { ours: of(ours), theirs: of(theirs) };
}
