import { setTimeout as wait } from 'node:timers/promises';
import { SECOND } from '../../../../common/clock.js';
import { faultWords, httpCall, type ConnectionFault } from '../../../../common/http-call.js';

const MOST_TRIES = 3;
const SHORTEST_WAIT_MS = 100;
const LONGEST_RETRY_AFTER_MS = 5 * SECOND;

/** Why a try failed: the gateway answered another status than 2xx, stayed silent, or the connection failed. */
export type GatewayFault =
  { kind: 'status'; status: number; retryAfterMs: number } | ConnectionFault;

/** One POST to a gateway, tried up to three times. */
export interface GatewayCall {
  url: string;
  /** Longest time of one try in milliseconds. */
  timeoutMs: number;
  /** Headers and body of a try; asked for every try, since a signature covers the time of its try. */
  request: () => Pick<RequestInit, 'headers' | 'body'>;
  /** Whether a try that failed like this may be repeated. */
  mayRepeat: (fault: GatewayFault) => boolean;
}

/**
 * The gateway did not take the message. The message of this error names only the last fault: addresses,
 * headers and bodies carry secrets and phone numbers, so the underlying error is not kept as its cause.
 */
export class GatewayError extends Error {
  constructor(
    readonly fault: GatewayFault,
    /** Whether the same message may be tried again later. */
    readonly mayRepeat: boolean,
  ) {
    super(`The SMS gateway ${describe(fault)}.`);
    this.name = 'GatewayError';
  }
}

/**
 * Posts until the gateway answers 2xx. Waits a jittered 100 to 200 ms before the second try and 200 to 400 ms
 * before the third, or what `Retry-After` asks for in seconds (RFC 9110 §10.2.3); a gateway that asks for more
 * than 5 seconds is not tried again. Redirects are not followed.
 * @throws GatewayError with the fault of the last try
 */
export async function callGateway(call: GatewayCall): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const fault = await post(call);
    if (fault === undefined) return;
    const askedMs = fault.kind === 'status' ? fault.retryAfterMs : 0;
    const mayRepeat = call.mayRepeat(fault);
    if (tried === MOST_TRIES || askedMs > LONGEST_RETRY_AFTER_MS || !mayRepeat) {
      throw new GatewayError(fault, mayRepeat);
    }
    await wait(Math.max(askedMs, backoffMs(tried)));
  }
}

async function post({ url, timeoutMs, request }: GatewayCall): Promise<GatewayFault | undefined> {
  const answer = await httpCall(url, timeoutMs, { method: 'POST', ...request() });
  if ('kind' in answer) return answer;
  const { status, headers } = answer;
  const isTaken = status >= 200 && status < 300;
  return isTaken ? undefined : { kind: 'status', status, retryAfterMs: retryAfterMs(headers) };
}

function retryAfterMs(headers: Headers): number {
  const value = headers.get('retry-after') ?? '';
  return /^\d+$/.test(value) ? Number(value) * SECOND : 0;
}

function backoffMs(tried: number): number {
  return SHORTEST_WAIT_MS * 2 ** (tried - 1) * (1 + Math.random());
}

function describe(fault: GatewayFault): string {
  return fault.kind === 'status' ? `answered ${fault.status}` : faultWords(fault);
}
