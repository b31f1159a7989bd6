import { z } from 'zod';
import { address, baseUrl, wholeNumber } from './values.js';

const WEBHOOK_KEY_BYTES = 16;

/** How text messages leave. */
export const sms = {
  SMS_SENDER: z
    .enum(['console', 'file', 'webhook', 'twilio'])
    .default('console')
    .describe('How one-time passwords are sent. The console sender is refused in production.'),
  SMS_FILE: z
    .string()
    .default('./data/sms.jsonl')
    .describe('Of the file sender: one JSON line per message, with to and text.'),
  SMS_TIMEOUT_MS: wholeNumber(100)
    .default(5000)
    .describe('Longest time, in milliseconds, of one call to a gateway.'),
  SMS_WEBHOOK_URL: address.optional().describe('Of the webhook sender: where messages are posted.'),
  SMS_WEBHOOK_SECRET: z
    .string()
    .refine(holdsWebhookKey, `must hold a key of at least ${WEBHOOK_KEY_BYTES} bytes`)
    .optional()
    .describe(
      'Of the webhook sender: the key that signs each message, as text or as whsec_ and base64; at least 16 bytes.',
    ),
  TWILIO_ACCOUNT_SID: z.string().optional().describe('Of the twilio sender.'),
  TWILIO_AUTH_TOKEN: z.string().optional().describe('Of the twilio sender.'),
  TWILIO_FROM: z
    .string()
    .optional()
    .describe('Of the twilio sender: the sending number or messaging service.'),
  TWILIO_API_URL: baseUrl
    .default('https://api.twilio.com')
    .describe('Of the twilio sender: base URL of its HTTP API; https://api.twilio.com by default.'),
};

function holdsWebhookKey(secret: string): boolean {
  const [, encoded] = /^whsec_(.*)$/s.exec(secret) ?? [];
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
  return key.length >= WEBHOOK_KEY_BYTES;
}
