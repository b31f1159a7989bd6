import { linksOf } from '../../support/api.js';
import { type ErrorBody, json } from '../../support/responses.js';

export const PEOPLE = ['Ana', 'Ben', 'Cleo'] as const;
export type PersonName = (typeof PEOPLE)[number];

export const APPS = ['Garden', 'Street'] as const;
export type AppName = (typeof APPS)[number];

/** A person, and the app that acts for them. */
export interface Actor {
  person: PersonName;
  app: AppName;
}

export type Body = Readonly<Record<string, unknown>>;

/** A call of the developer API. */
export interface Call {
  by: Actor;
  method: 'GET' | 'POST' | 'DELETE';
  /** Under `/dev/v1`, with its query. */
  path: string;
  body?: Body;
  /** What is sent as `Idempotency-Key`. */
  key?: string;
}

/** What an answer says, as far as there is a rule about it. */
export interface Told {
  status: number;
  /** Of a success. */
  body?: Readonly<Record<string, unknown>>;
  /** Of a refusal. */
  error?: string;
  /** Of a refusal, what is wrong with the request: each `field code`, sorted. */
  problems?: readonly string[];
  /** Names in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** Of a list, the addresses of pages by their relation. */
  links?: Readonly<Record<string, string>>;
}

const TELLING = [
  'location',
  'idempotency-replayed',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'www-authenticate',
];

export async function toldBy(answer: Response): Promise<Told> {
  const headers = TELLING.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const links = linksOf(answer);
  const told = {
    status: answer.status,
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(Object.keys(links).length > 0 && { links }),
  };
  if (answer.status < 400) return { ...told, body: await json(answer) };
  const { error, errors } = await json<ErrorBody>(answer);
  const problems = errors?.map(({ field, code }) => `${field} ${code}`.trim()).toSorted();
  return { ...told, error, ...(problems && { problems }) };
}
