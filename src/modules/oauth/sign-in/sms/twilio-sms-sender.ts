import type { SmsConfig } from '../../../../config/sms-config.js';
import { callGateway, type GatewayFault } from './gateway-call.js';
import { SmsSender, type TextMessage } from './sms-sender.js';

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
