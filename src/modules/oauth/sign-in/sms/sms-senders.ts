import { createHmac } from 'node:crypto';
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, SECOND } from '../../../../platform/clock.js';
import type { SmsConfig } from '../../../../platform/config/app-config.js';
import { isMessagingService } from '../../../../platform/config/twilio-from.js';
import {
  describeFailure,
  httpCall,
  type HttpResult,
  type RequestFailure,
} from '../../../../platform/http/http-client.js';
import { callTwilio, refusalOf, TWILIO_ERRORS, type TwilioConfig } from './twilio.js';

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
   * @param expiresAt when the message becomes useless, so that a gateway need not deliver it later
   * @throws GatewayError if a gateway did not accept it
   */
  abstract send(message: TextMessage, expiresAt: Date): Promise<void>;
}

/** Creates the configured sender. `clock` provides the time of signatures and of the expiry of messages. */
export function createSmsSender(config: SmsConfig, clock: Clock): SmsSender {
  switch (config.sender) {
    case 'console':
      return new ConsoleSmsSender();
    case 'file':
      return new FileSmsSender(config.file);
    case 'webhook':
      return new WebhookSmsSender(config, clock);
    case 'twilio':
      return new TwilioSmsSender(config, clock);
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
    const { url, timeoutMs } = this.config;
    const headers = this.signedHeaders(id, body);
    const result = await httpCall(url, timeoutMs, { method: 'POST', headers, body });
    if ('kind' in result) throw new GatewayError(result, { mayRetry: true });
    const { status } = result;
    if (status >= 200 && status < 300) return;
    const mayRetry = [408, 429].includes(status) || status >= 500;
    throw new GatewayError(statusFault(result), { mayRetry });
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

/**
 * Sends each message with the HTTP API of Twilio. The API has no idempotency key. The sender therefore retries only if Twilio
 * certainly did not accept the message: if the request was not sent, and after the codes that `TWILIO_ERRORS` lists, 429 and 503.
 * @see https://www.twilio.com/docs/messaging/api/message-resource
 */
class TwilioSmsSender extends SmsSender {
  constructor(
    private readonly config: TwilioConfig,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async send({ to, text }: TextMessage, expiresAt: Date): Promise<void> {
    const { from } = this.config;
    const body = new URLSearchParams({
      To: to,
      Body: text,
      [isMessagingService(from) ? 'MessagingServiceSid' : 'From']: from,
      // Otherwise, Twilio would deliver a message that had to wait up to ten hours later, when the password has expired.
      ValidityPeriod: String(this.validSeconds(expiresAt)),
    });
    const response = await callTwilio(this.config, '/Messages.json', { method: 'POST', body });
    if ('kind' in response) throw new GatewayError(response, { mayRetry: !response.wasSent });
    const refusal = refusalOf(response);
    if (refusal === undefined) return;
    const { status, headers } = response;
    const fault = { ...statusFault({ status, headers }), ...refusal };
    const known = TWILIO_ERRORS[refusal.code ?? 0];
    throw new GatewayError(fault, {
      mayRetry: known ? known.retry : status === 429 || status === 503,
    });
  }

  private validSeconds(expiresAt: Date): number {
    return Math.max(1, Math.ceil((expiresAt.getTime() - this.clock.now().getTime()) / SECOND));
  }
}

/** `code` is a code of Twilio. `detail` describes it, and follows the status. */
interface StatusFault {
  kind: 'status';
  status: number;
  retryAfter: string | null;
  code?: number | undefined;
  detail?: string;
}

type GatewayFault = StatusFault | RequestFailure;

/** Describes the fault. It has no `cause`, because addresses, headers and bodies contain secrets and phone numbers. */
export class GatewayError extends Error {
  /** Whether it is safe to send the same message again later. */
  readonly mayRetry: boolean;

  constructor(
    readonly fault: GatewayFault,
    { mayRetry }: { mayRetry: boolean },
  ) {
    super(
      `The SMS gateway ${fault.kind === 'status' ? describeStatus(fault) : describeFailure(fault)}.`,
    );
    this.name = 'GatewayError';
    this.mayRetry = mayRetry;
  }

  /** For the audit log: `status` and, if known, `code`; or `failure`, which is `timeout` or a system error code. */
  get details(): Record<string, string | number> {
    const { fault } = this;
    if (fault.kind !== 'status')
      return { failure: fault.kind === 'timeout' ? 'timeout' : fault.code };
    const { status, code } = fault;
    return code === undefined ? { status } : { status, code };
  }

  /** For the label of a metric, so one of few values: a code of `TWILIO_ERRORS`, a status, `timeout` or `connection`. */
  get metricCode(): string {
    const { fault } = this;
    if (fault.kind !== 'status') return fault.kind;
    const isListed = fault.code !== undefined && fault.code in TWILIO_ERRORS;
    return String(isListed ? fault.code : fault.status);
  }
}

function describeStatus({ status, detail = '' }: StatusFault): string {
  return `returned ${status}${detail === '' ? '' : ` ${detail}`}`;
}

function statusFault({ status, headers }: Pick<HttpResult, 'status' | 'headers'>): StatusFault {
  return { kind: 'status', status, retryAfter: headers.get('retry-after') };
}
