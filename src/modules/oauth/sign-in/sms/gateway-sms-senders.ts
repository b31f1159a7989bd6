import { createHmac } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type Clock, SECOND } from '../../../../platform/clock.js';
import type { SmsConfig } from '../../../../platform/config/app-config.js';
import {
  type ConnectionFault,
  faultWords,
  httpCall,
} from '../../../../platform/http/http-client.js';
import { SmsSender, type TextMessage } from './sms-sender.js';

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

const ENCODED_KEY = 'whsec_';
const SHORTEST_KEY_BYTES = 16;

/**
 * Posts each message as JSON, `{"to":…,"text":…}`, to the operator's gateway, signed as Standard Webhooks
 * describes. The message's id is the `webhook-id` of every try, by which the gateway drops a repetition; this
 * makes it safe to try again after a timeout, a broken connection, 429 and 5xx.
 *
 * The key is the bytes of the secret or, when it starts with `whsec_`, what follows decoded from base64.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export class WebhookSmsSender extends SmsSender {
  private readonly key: Buffer;

  /** @throws Error when the secret holds fewer than 16 bytes, as after a `whsec_` that is not base64 */
  constructor(
    private readonly config: Extract<SmsConfig, { sender: 'webhook' }>,
    private readonly clock: Clock,
  ) {
    super();
    this.key = signingKey(config.secret);
  }

  /** @throws GatewayError when no try was answered 2xx */
  override async send({ id, to, text }: TextMessage): Promise<void> {
    const body = JSON.stringify({ to, text });
    await callGateway({
      url: this.config.url,
      timeoutMs: this.config.timeoutMs,
      request: () => ({ headers: this.signedHeaders(id, body), body }),
      mayRepeat: isRepeatable,
    });
  }

  private signedHeaders(id: string, body: string): Record<string, string> {
    const timestamp = String(Math.floor(this.clock.now().getTime() / SECOND));
    const signature = createHmac('sha256', this.key)
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64');
    return {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    };
  }
}

function isRepeatable(fault: GatewayFault): boolean {
  return fault.kind !== 'status' || fault.status === 429 || fault.status >= 500;
}

function signingKey(secret: string): Buffer {
  const key = secret.startsWith(ENCODED_KEY)
    ? Buffer.from(secret.slice(ENCODED_KEY.length), 'base64')
    : Buffer.from(secret, 'utf8');
  if (key.length < SHORTEST_KEY_BYTES) {
    throw new Error(`SMS_WEBHOOK_SECRET: must hold a key of at least ${SHORTEST_KEY_BYTES} bytes`);
  }
  return key;
}

const MESSAGING_SERVICE = 'MG';

/**
 * Sends each message by Twilio's HTTP API, from a number or, when the configured sender starts with `MG`, from
 * a messaging service.
 *
 * The API has no idempotency key: a second request is a second message, paid for and confusing to its reader.
 * So a request is repeated only where Twilio surely did not take it (the connection was refused, 429, 503).
 * After a timeout, a connection that broke off or another 5xx the message may be on its way, and the send fails.
 * @see https://www.twilio.com/docs/messaging/api/message-resource
 */
export class TwilioSmsSender extends SmsSender {
  constructor(private readonly config: Extract<SmsConfig, { sender: 'twilio' }>) {
    super();
  }

  /** @throws GatewayError when Twilio did not accept the message */
  override async send({ to, text }: TextMessage): Promise<void> {
    const { apiUrl, accountSid, authToken, from, timeoutMs } = this.config;
    const sender = from.startsWith(MESSAGING_SERVICE) ? 'MessagingServiceSid' : 'From';
    const credentials = Buffer.from(`${accountSid}:${authToken}`, 'utf8').toString('base64');
    await callGateway({
      url: `${apiUrl}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Messages.json`,
      timeoutMs,
      request: () => ({
        headers: { authorization: `Basic ${credentials}` },
        body: new URLSearchParams({ To: to, Body: text, [sender]: from }),
      }),
      mayRepeat: surelyNotTaken,
    });
  }
}

function surelyNotTaken(fault: GatewayFault): boolean {
  if (fault.kind === 'status') return fault.status === 429 || fault.status === 503;
  return fault.kind === 'connection' && fault.code === 'ECONNREFUSED';
}
