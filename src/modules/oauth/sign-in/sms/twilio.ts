import type { SmsConfig } from '../../../../platform/config/app-config.js';
import {
  httpCall,
  type HttpResult,
  type RequestFailure,
} from '../../../../platform/http/http-client.js';

export interface TwilioError {
  /** Follows `code 21610: ` in a log line. */
  meaning: string;
  /** Whether the same request may succeed within the lifetime of a one-time password, and Twilio certainly accepted no message. */
  retry: boolean;
  /** What the operator does. */
  remedy: string;
}

const UNUSABLE_NUMBER =
  'Nothing for one member; ask for a mobile number. For many: check OTP_COUNTRIES';
const OTHER_SENDER = 'Set TWILIO_FROM to a sender of this account that may send text messages';
const CARRIER = 'Nothing for one member. For many: ask the support of Twilio';

/**
 * The codes that a request for a text message may get. docs/operate/messages.md shows this table.
 * @see https://www.twilio.com/docs/api/errors
 */
export const TWILIO_ERRORS: Readonly<Record<number, TwilioError>> = {
  10001: {
    meaning: 'the account is not active',
    retry: false,
    remedy: 'Look at the account in the console of Twilio, and pay its bills',
  },
  20003: {
    meaning: 'the credentials are wrong or not permitted, or the account is suspended',
    retry: false,
    remedy:
      'Correct TWILIO_AUTH_TOKEN, or TWILIO_API_KEY and TWILIO_API_SECRET. They belong to one account and one region (TWILIO_API_URL)',
  },
  20404: {
    meaning: 'the account was not found',
    retry: false,
    remedy: 'Correct TWILIO_ACCOUNT_SID and TWILIO_API_URL',
  },
  20429: {
    meaning: 'there were too many requests at once',
    retry: true,
    remedy: 'If it lasts, ask Twilio for a higher limit',
  },
  21211: {
    meaning: 'the number of the recipient is not valid',
    retry: false,
    remedy: 'Correct the number of the member',
  },
  21212: {
    meaning: 'the sender is not valid',
    retry: false,
    remedy: OTHER_SENDER,
  },
  21265: {
    meaning: 'the number of the recipient is a short code',
    retry: false,
    remedy: 'Correct the number of the member',
  },
  21266: {
    meaning: 'the recipient and the sender are the same number',
    retry: false,
    remedy: 'Correct the number of the member',
  },
  21268: {
    meaning: 'the number of the recipient is a premium or information service',
    retry: false,
    remedy: 'Check who requests codes for such numbers, and limit OTP_COUNTRIES',
  },
  21408: {
    meaning: 'the account may not send to this country',
    retry: false,
    remedy:
      'Allow the country in the geographic permissions of the account, or leave it out of OTP_COUNTRIES',
  },
  21606: {
    meaning: 'the sender cannot send text messages to this recipient',
    retry: false,
    remedy: OTHER_SENDER,
  },
  21608: {
    meaning: 'a trial account sends only to verified numbers',
    retry: false,
    remedy: 'Upgrade the account',
  },
  21610: {
    meaning: 'the recipient opted out, for example by replying STOP',
    retry: false,
    remedy: 'Ask the member to send START to the number of the sender',
  },
  21612: {
    meaning: 'the sender cannot reach this recipient',
    retry: false,
    remedy: 'Use another sender for this country, for example a messaging service',
  },
  21614: {
    meaning: 'the number of the recipient is not a mobile number',
    retry: false,
    remedy: UNUSABLE_NUMBER,
  },
  21635: {
    meaning: 'the number of the recipient is a landline',
    retry: false,
    remedy: UNUSABLE_NUMBER,
  },
  21659: {
    meaning: 'the sender is not a number of Twilio',
    retry: false,
    remedy: OTHER_SENDER,
  },
  21660: {
    meaning: 'the sender does not belong to this account',
    retry: false,
    remedy: OTHER_SENDER,
  },
  21661: {
    meaning: 'the sender cannot send text messages',
    retry: false,
    remedy: OTHER_SENDER,
  },
  21703: {
    meaning: 'the messaging service has no sender for this message',
    retry: false,
    remedy: 'Add a sender to the messaging service of TWILIO_FROM',
  },
  30001: { meaning: 'the queue of the sender is full', retry: false, remedy: CARRIER },
  30002: {
    meaning: 'the account is suspended',
    retry: false,
    remedy: 'Look at the account in the console of Twilio, and pay its bills',
  },
  30003: {
    meaning: 'the phone could not be reached',
    retry: false,
    remedy: 'Nothing: the member requests another code later',
  },
  30004: {
    meaning: 'the recipient or a carrier blocks the message',
    retry: false,
    remedy: CARRIER,
  },
  30005: {
    meaning: 'the number of the recipient does not exist',
    retry: false,
    remedy: UNUSABLE_NUMBER,
  },
  30006: {
    meaning: 'the recipient is a landline, or its carrier cannot be reached',
    retry: false,
    remedy: UNUSABLE_NUMBER,
  },
  30007: {
    meaning: 'a filter of Twilio or of a carrier stopped the message',
    retry: false,
    remedy: 'Register the sender as its country demands, and ask the support of Twilio',
  },
  30008: { meaning: 'the delivery failed for an unknown reason', retry: false, remedy: CARRIER },
  30034: {
    meaning: 'the sender is not registered for messages in the United States (A2P 10DLC)',
    retry: false,
    remedy: 'Register the number in the console of Twilio',
  },
  30036: {
    meaning: 'the message waited in the queue of Twilio until the code expired',
    retry: false,
    remedy: 'Use a sender with a higher throughput, such as a messaging service',
  },
  30454: {
    meaning: 'a trial account has used up its messages',
    retry: false,
    remedy: 'Upgrade the account',
  },
  63038: {
    meaning: 'the account has used up its messages of 24 hours',
    retry: false,
    remedy:
      'Look for abuse: many requests from few addresses. A trial account sends 50 messages a day; otherwise ask Twilio for a higher limit',
  },
};

export type TwilioConfig = Extract<SmsConfig, { sender: 'twilio' }>;

/** The response of Twilio, or of a program in its place. `json` is the body if it is a JSON object, else empty. */
export interface TwilioResponse extends HttpResult {
  json: Readonly<Record<string, unknown>>;
}

/** Sends a request to the account. `path` follows the SID of the account. Never throws. */
export async function callTwilio(
  { apiUrl, accountSid, username, password, timeoutMs }: TwilioConfig,
  path: string,
  init: Pick<RequestInit, 'method' | 'body'>,
): Promise<TwilioResponse | RequestFailure> {
  const url = `${apiUrl}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}${path}`;
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const headers = { authorization: `Basic ${credentials}` };
  const result = await httpCall(url, timeoutMs, { ...init, headers }, { readsBody: true });
  return 'kind' in result ? result : { ...result, json: objectIn(result.body) };
}

function objectIn(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** States of a message that Twilio created but does not send. */
const FAILED_STATES = new Set<unknown>(['failed', 'undelivered', 'canceled']);

/**
 * Why a response does not accept the message; undefined if it does: only 201 with a state of the message that is no failure. Contains
 * no texts of the response, because these may contain phone numbers.
 */
export function refusalOf({ status, json }: TwilioResponse):
  | {
      /** Follows the status: `with code 21610: the recipient …`. */
      detail: string;
      code: number | undefined;
    }
  | undefined {
  const isCreated = status === 201;
  const hasFailed = FAILED_STATES.has(json.status);
  if (isCreated && typeof json.status === 'string' && !hasFailed) return undefined;
  // In an error, the member is `code`; in a message, `error_code`.
  const code = twilioCode(isCreated ? json.error_code : json.code);
  const details = [
    ...(isCreated && hasFailed ? [`the state ${String(json.status)}`] : []),
    ...(code === undefined ? [] : [describeTwilioCode(code)]),
  ];
  if (details.length > 0) return { detail: `with ${details.join(' and ')}`, code };
  return { detail: status < 300 ? 'without the state of a message' : '', code };
}

/** A code of Twilio in a JSON body, which may also be text. */
export function twilioCode(value: unknown): number | undefined {
  return /^\d{5}$/.test(String(value)) ? Number(value) : undefined;
}

export function describeTwilioCode(code: number): string {
  const known = TWILIO_ERRORS[code];
  return `code ${code}${known ? `: ${known.meaning}` : ''}`;
}
