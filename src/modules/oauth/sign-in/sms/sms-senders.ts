import { createHmac } from 'node:crypto';
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, SECOND } from '../../../../platform/clock.js';
import type { SmsConfig } from '../../../../platform/config/app-config.js';
import {
  describeFailure,
  httpCall,
  type RequestFailure,
} from '../../../../platform/http/http-client.js';

/** `to` is E.164. `id` is the same in every attempt, so that a gateway can drop duplicates. */
export interface TextMessage {
  id: string;
  to: string;
  text: string;
}

/** Implemented by the sender that `SMS_SENDER` selects. */
export abstract class SmsSender {
  /**
   * Makes one attempt. Resolves when the gateway has accepted the message, which does not prove its delivery.
   * @throws GatewayError if a gateway did not accept it
   */
  abstract send(message: TextMessage): Promise<void>;
}

/** Creates the configured sender. `clock` provides the time of signatures. */
export function createSmsSender(config: SmsConfig, clock: Clock): SmsSender {
  switch (config.sender) {
    case 'console':
      return new ConsoleSmsSender();
    case 'file':
      return new FileSmsSender(config.file);
    case 'webhook':
      return new WebhookSmsSender(config, clock);
    case 'twilio':
      return new TwilioSmsSender(config);
    default:
      return config satisfies never;
  }
}

/** For development. Prints one-time passwords. */
class ConsoleSmsSender extends SmsSender {
  override async send({ to, text }: TextMessage): Promise<void> {
    process.stdout.write(`SMS to ${to}: ${text.replace(/\s+/g, ' ')}\n`);
  }
}

const OWNER_ONLY = 0o600;

/** Appends messages to a file as JSON lines. Only the owner can read the file, because it contains one-time passwords. */
class FileSmsSender extends SmsSender {
  constructor(private readonly file: string) {
    super();
  }

  override async send({ to, text }: TextMessage): Promise<void> {
    await mkdir(dirname(this.file), { recursive: true });
    await appendFile(this.file, `${JSON.stringify({ to, text })}\n`, { mode: OWNER_ONLY });
  }
}

const ENCODED_KEY_PREFIX = 'whsec_';
const MIN_KEY_BYTES = 16;

/**
 * Posts each message as JSON to the gateway of the operator, signed as Standard Webhooks specifies. The gateway can drop
 * duplicates by `webhook-id`, so retries are safe after a timeout, a broken connection, 408, 429 and 5xx.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
class WebhookSmsSender extends SmsSender {
  private readonly key: Buffer;

  /** @throws Error when the key of the secret has fewer than 16 bytes */
  constructor(
    private readonly config: Extract<SmsConfig, { sender: 'webhook' }>,
    private readonly clock: Clock,
  ) {
    super();
    const { secret } = config;
    this.key = secret.startsWith(ENCODED_KEY_PREFIX)
      ? Buffer.from(secret.slice(ENCODED_KEY_PREFIX.length), 'base64')
      : Buffer.from(secret);
    if (this.key.length < MIN_KEY_BYTES)
      throw new Error(`SMS_WEBHOOK_SECRET: the key must have at least ${MIN_KEY_BYTES} bytes`);
  }

  override async send({ id, to, text }: TextMessage): Promise<void> {
    const body = JSON.stringify({ to, text });
    await callGateway({
      url: this.config.url,
      timeoutMs: this.config.timeoutMs,
      request: { headers: this.signedHeaders(id, body), body },
      mayRetry: (fault) =>
        fault.kind !== 'status' || [408, 429].includes(fault.status) || fault.status >= 500,
    });
  }

  private signedHeaders(id: string, body: string): Record<string, string> {
    // The gateway compares it with its own clock, not with that of our database.
    const timestamp = String(Math.floor(this.clock.machineTime() / SECOND));
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

const MESSAGING_SERVICE_PREFIX = 'MG';

/**
 * Sends each message with the HTTP API of Twilio. The API has no idempotency key. The sender therefore retries only if Twilio
 * certainly did not accept the message: after a refused connection, 429 and 503.
 * @see https://www.twilio.com/docs/messaging/api/message-resource
 */
class TwilioSmsSender extends SmsSender {
  constructor(private readonly config: Extract<SmsConfig, { sender: 'twilio' }>) {
    super();
  }

  override async send({ to, text }: TextMessage): Promise<void> {
    const { apiUrl, accountSid, authToken, from, timeoutMs } = this.config;
    const sender = from.startsWith(MESSAGING_SERVICE_PREFIX) ? 'MessagingServiceSid' : 'From';
    const credentials = Buffer.from(`${accountSid}:${authToken}`).toString('base64');
    await callGateway({
      url: `${apiUrl}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Messages.json`,
      timeoutMs,
      request: {
        headers: { authorization: `Basic ${credentials}` },
        body: new URLSearchParams({ To: to, Body: text, [sender]: from }),
      },
      mayRetry: (fault) =>
        fault.kind === 'status'
          ? fault.status === 429 || fault.status === 503
          : fault.kind === 'connection' && fault.code === 'ECONNREFUSED',
    });
  }
}

type GatewayFault = { kind: 'status'; status: number; retryAfter: string | null } | RequestFailure;

/** Describes the fault. It has no `cause`, because addresses, headers and bodies contain secrets and phone numbers. */
export class GatewayError extends Error {
  /** Whether it is safe to send the same message again later. */
  readonly mayRetry: boolean;

  constructor(
    readonly fault: GatewayFault,
    { mayRetry }: { mayRetry: boolean },
  ) {
    const problem = fault.kind === 'status' ? `returned ${fault.status}` : describeFailure(fault);
    super(`The SMS gateway ${problem}.`);
    this.name = 'GatewayError';
    this.mayRetry = mayRetry;
  }
}

interface GatewayCall {
  url: string;
  timeoutMs: number;
  request: Pick<RequestInit, 'headers' | 'body'>;
  mayRetry: (fault: GatewayFault) => boolean;
}

/** @throws GatewayError */
async function callGateway({ url, timeoutMs, request, mayRetry }: GatewayCall): Promise<void> {
  const result = await httpCall(url, timeoutMs, { method: 'POST', ...request });
  if ('kind' in result) throw new GatewayError(result, { mayRetry: mayRetry(result) });
  const { status, headers } = result;
  if (status >= 200 && status < 300) return;
  const fault = { kind: 'status', status, retryAfter: headers.get('retry-after') } as const;
  throw new GatewayError(fault, { mayRetry: mayRetry(fault) });
}
