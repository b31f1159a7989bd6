import type { Env } from './env.schema.js';

export type SmsConfig =
  | { sender: 'console' }
  | { sender: 'file'; file: string }
  | { sender: 'webhook'; url: string; secret: string; timeoutMs: number }
  | {
      sender: 'twilio';
      apiUrl: string;
      accountSid: string;
      authToken: string;
      from: string;
      timeoutMs: number;
    };

/** The sender that the environment names, with what it needs. */
export function smsConfig(env: Env): SmsConfig {
  const timeoutMs = env.SMS_TIMEOUT_MS;
  switch (env.SMS_SENDER) {
    case 'console':
      return { sender: 'console' };
    case 'file':
      return { sender: 'file', file: env.SMS_FILE };
    case 'webhook':
      return {
        sender: 'webhook',
        url: env.SMS_WEBHOOK_URL ?? '',
        secret: env.SMS_WEBHOOK_SECRET ?? '',
        timeoutMs,
      };
    case 'twilio':
      return {
        sender: 'twilio',
        apiUrl: env.TWILIO_API_URL,
        accountSid: env.TWILIO_ACCOUNT_SID ?? '',
        authToken: env.TWILIO_AUTH_TOKEN ?? '',
        from: env.TWILIO_FROM ?? '',
        timeoutMs,
      };
  }
}
