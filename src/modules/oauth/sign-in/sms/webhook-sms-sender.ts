import { createHmac } from 'node:crypto';
import { SECOND, type Clock } from '../../../../common/clock.js';
import type { SmsConfig } from '../../../../config/sms-config.js';
import { callGateway, type GatewayFault } from './gateway-call.js';
import { SmsSender, type TextMessage } from './sms-sender.js';

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
      mayRepeat,
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

function mayRepeat(fault: GatewayFault): boolean {
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
