import { faultWords, httpCall } from '../../common/http-call.js';
import type { AppConfig } from '../../config/app-config.js';
import type { SmsConfig } from '../../config/sms-config.js';
import { failed, ok, warning, type Check, type Finding } from './check.js';
import { obstacleToWriting } from './writable.js';

const REFUSED = new Set([401, 403, 404]);

/** Whether messages could leave. None is sent. */
export function smsGatewayCheck({ sms }: AppConfig): Check {
  return { name: 'sms', run: async () => [await findingOn(sms)] };
}

async function findingOn(sms: SmsConfig): Promise<Finding> {
  switch (sms.sender) {
    case 'console':
      return ok('Messages are printed by the service.');
    case 'file': {
      const obstacle = await obstacleToWriting(sms.file);
      if (obstacle !== undefined)
        return failed(obstacle, 'Let the service write it, or set SMS_FILE.');
      return ok(`Messages are written to ${sms.file}.`);
    }
    case 'webhook':
      return reached(sms.url, sms.timeoutMs, { method: 'HEAD' });
    case 'twilio': {
      const { apiUrl, accountSid, authToken, timeoutMs } = sms;
      const credentials = Buffer.from(`${accountSid}:${authToken}`, 'utf8').toString('base64');
      const account = `${apiUrl}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}.json`;
      const headers = { authorization: `Basic ${credentials}` };
      return reached(account, timeoutMs, { method: 'GET', headers }, REFUSED);
    }
  }
}

/** Its path may hold a secret, so only the origin is told. A gateway may refuse a HEAD and still take messages. */
async function reached(
  url: string,
  timeoutMs: number,
  init: { method: string; headers?: Record<string, string> },
  refused: ReadonlySet<number> = new Set(),
): Promise<Finding> {
  const gateway = `The gateway at ${new URL(url).origin}`;
  const answer = await httpCall(url, timeoutMs, init);
  if ('kind' in answer)
    return failed(`${gateway} ${faultWords(answer)}.`, `curl -v ${new URL(url).origin}`);
  if (refused.has(answer.status))
    return failed(
      `${gateway} refuses the account (${answer.status}).`,
      'Correct TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN.',
    );
  if (answer.status >= 500)
    return warning(`${gateway} is out of order (${answer.status}).`, 'Ask its operator.');
  return ok(`${gateway} answers.`);
}
