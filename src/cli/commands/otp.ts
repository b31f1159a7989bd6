import { Option } from 'commander';
import { addMilliseconds, DAY } from '../../platform/clock.js';
import type {
  OtpReportLine,
  ReportGroup,
} from '../../modules/oauth/sign-in/otp-operations.service.js';
import { changeResult, type CliCommand } from '../command.js';
import { parseTime, TIME_FORMATS, type TimeOption } from '../option-values.js';
import type { Result, Session } from '../session.js';

/* `OTP_RESULTS` and `REPORT_GROUPS`, which this file cannot import without the application. */
const RESULTS = ['sent', 'failed', 'no_account', 'signed_in'] as const;
const GROUPS: readonly ReportGroup[] = ['country', 'app', 'result'];

/** The account pages, in the column of the app. */
const ACCOUNT_PAGES = 'account pages';

interface ReportOptions {
  since?: TimeOption;
  by: ReportGroup;
}

export function addOtpCommands(program: CliCommand): void {
  const otp = program
    .command('otp')
    .description('Count one-time passwords, and stop and start their messages.')
    .examples('otp report --since 7d --by app', 'otp pause --reason "Messages to +882 numbers"');

  otp
    .command('report')
    .summary('Count one-time passwords by country, app or result.')
    .description(
      'Count the requested one-time passwords by country of the phone number, by app or by result. SENT: the gateway accepted the message. FAILED: it did not, after all retries. NO_ACCOUNT: the number has no account, so nothing was sent and nothing is billed. SIGNED_IN: the sent code was entered. Many SENT with few SIGNED_IN in one country mean that strangers request messages. Requests that a limit rejected are not counted. The report begins at a full hour (UTC). Country 001 has international numbers, such as +882.',
    )
    .option(
      '--since <time>',
      `since the hour of this time: ${TIME_FORMATS} (default: 24h)`,
      parseTime,
    )
    .addOption(new Option('--by <group>', 'what to group by').choices(GROUPS).default('country'))
    .printsJson(
      '[{country?, client_id?, result?, sent?, failed?, no_account?, signed_in?, total?}]',
    )
    .examples('otp report', 'otp report --since 7d --by app', 'otp report --by result --json')
    .execute(async (session, { since, by }: ReportOptions) => {
      const now = session.get('Clock').now();
      const start = since?.(now) ?? addMilliseconds(now, -DAY);
      const lines = await session.get('OtpOperations').report(start, by);
      return by === 'result' ? resultsOf(session, lines) : groupsOf(session, lines, by);
    });

  otp
    .command('pause')
    .summary('Stop all one-time passwords until "otp resume".')
    .description(
      'Stop all one-time passwords at once, in all processes, until "otp resume". Does not ask for confirmation. Meanwhile, users without a session cannot sign in, and the sign-in page says so. Codes that were sent before, sessions and tokens stay valid.',
    )
    .acceptsReason()
    .printsJson('{paused, changed}')
    .examples('otp pause --reason "Messages to +882 numbers"')
    .execute(async (session) => {
      const changed = await session.get('OtpOperations').pause(session.change);
      return changeResult(changed, { paused: true, changed }, [
        'Paused one-time passwords. "otp resume" sends them again.',
        'One-time passwords were already paused.',
      ]);
    });

  otp
    .command('resume')
    .summary('Send one-time passwords again.')
    .description('Send one-time passwords again after "otp pause", in all processes at once.')
    .acceptsReason()
    .printsJson('{paused, changed}')
    .examples('otp resume --reason "OTP_COUNTRIES is set"')
    .execute(async (session) => {
      const changed = await session.get('OtpOperations').resume(session.change);
      return changeResult(changed, { paused: false, changed }, [
        'One-time passwords are sent again.',
        'One-time passwords were not paused.',
      ]);
    });
}

const NONE = 'No one-time passwords were requested.';

function resultsOf(session: Session, lines: readonly OtpReportLine[]): Result {
  const totals = lines.map((line) => ({
    result: line.group,
    total: RESULTS.reduce((sum, result) => sum + line[result], 0),
  }));
  const rows = totals.map(({ result, total }) => [result, String(total)]);
  return { json: totals, text: session.list(['RESULT', 'TOTAL'], rows, NONE) };
}

function groupsOf(
  session: Session,
  lines: readonly OtpReportLine[],
  by: 'country' | 'app',
): Result {
  const column = by === 'country' ? 'country' : 'client_id';
  const json = lines.map(({ group, ...results }) => ({
    [column]: by === 'app' && group === '' ? null : group,
    ...results,
  }));
  const rows = lines.map((line) => [
    line.group === '' ? ACCOUNT_PAGES : line.group,
    ...RESULTS.map((result) => String(line[result])),
  ]);
  const header = [column, ...RESULTS].map((name) => name.toUpperCase());
  return { json, text: session.list(header, rows, NONE) };
}
