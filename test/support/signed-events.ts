import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

export interface SignedRequest {
  id: string;
  timestamp: string;
  signature: string;
  body: string;
}

interface Case {
  title: string;
  /** A request that arrives at this time (milliseconds since 1970). */
  request: (now: number) => SignedRequest;
  result: 'accept' | 'reject';
}

const secretOf = (text: string): string => `whsec_${Buffer.from(text).toString('base64')}`;
export const SECRET = secretOf('32 bytes, as those of an endpoint');
const OTHER_SECRET = secretOf('32 bytes that sign other messages');

const ID = 'msg_01kahq5f3veqdr8bn3tdmx3q0a';
const COMMENT = {
  id: 'cmt_01kahq5f3veqdr8bn3tdmx3q0b',
  text: '¿Todavía hay ciruelas? “Sí” – 5 € 🍑',
};
/** As the service sends it. */
export const EVENT = {
  id: ID,
  type: 'comment.created',
  timestamp: '2026-11-21T09:30:00.000Z',
  data: {
    userId: 'usr_01kahq5f3veqdr8bn3tdmx3q0c',
    postId: 'post_01kahq5f3veqdr8bn3tdmx3q0d',
    comment: COMMENT,
  },
};
const BODY = JSON.stringify(EVENT);

/** `EVENT`, signed by the reference library. */
export function signed(now: number, secrets = [SECRET], ageSeconds = 0): SignedRequest {
  const at = new Date(now - ageSeconds * 1000);
  return {
    id: ID,
    timestamp: String(Math.floor(at.getTime() / 1000)),
    signature: secrets.map((secret) => new Webhook(secret).sign(ID, at, BODY)).join(' '),
    body: BODY,
  };
}

/** Requests that a receiver with `SECRET` must accept or reject. */
export const EVENTS: readonly Case[] = [
  { title: 'a signed event', request: (now) => signed(now), result: 'accept' },
  {
    title: 'an event whose second signature matches',
    request: (now) => signed(now, [OTHER_SECRET, SECRET]),
    result: 'accept',
  },
  {
    title: 'an event whose first signature matches',
    request: (now) => signed(now, [SECRET, OTHER_SECRET]),
    result: 'accept',
  },
  {
    title: 'an event with a signature of an unknown version, too',
    request(now) {
      const { signature, ...rest } = signed(now);
      return { ...rest, signature: `v1a,AAAA ${signature}` };
    },
    result: 'accept',
  },
  {
    title: 'an event after less than five minutes',
    request: (now) => signed(now, [SECRET], 280),
    result: 'accept',
  },
  {
    title: 'an event after more than five minutes',
    request: (now) => signed(now, [SECRET], 310),
    result: 'reject',
  },
  {
    title: 'an event from more than five minutes in the future',
    request: (now) => signed(now, [SECRET], -320),
    result: 'reject',
  },
  {
    title: 'an old event with a new timestamp',
    request: (now) => ({ ...signed(now, [SECRET], 310), timestamp: signed(now).timestamp }),
    result: 'reject',
  },
  {
    title: 'a changed body',
    request: (now) => ({ ...signed(now), body: BODY.replace('5 €', '6 €') }),
    result: 'reject',
  },
  {
    title: 'another id',
    request: (now) => ({ ...signed(now), id: `${ID}0` }),
    result: 'reject',
  },
  {
    title: 'an event that was signed with another secret',
    request: (now) => signed(now, [OTHER_SECRET]),
    result: 'reject',
  },
  {
    title: 'a signature that is not base64',
    request: (now) => ({ ...signed(now), signature: 'v1,*** v1, v1 ,' }),
    result: 'reject',
  },
  {
    title: 'a matching signature of another version',
    request(now) {
      const { signature, ...rest } = signed(now);
      return { ...rest, signature: signature.replace('v1,', 'v2,') };
    },
    result: 'reject',
  },
  {
    title: 'a request without the headers',
    request: () => ({ id: '', timestamp: '', signature: '', body: BODY }),
    result: 'reject',
  },
];

/** A request that anyone can sign for a receiver whose secret is empty. */
export function signedWithoutSecret(now: number): SignedRequest {
  const { id, timestamp, body } = signed(now);
  const hmac = createHmac('sha256', '').update(`${id}.${timestamp}.${body}`);
  return { id, timestamp, body, signature: `v1,${hmac.digest('base64')}` };
}
