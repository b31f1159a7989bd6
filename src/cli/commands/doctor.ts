import type { CliCommand } from '../command.js';
import type { Result, Session } from '../session.js';
import { wrap } from '../tables.js';
import type { CheckOptions, NamedFinding } from '../../modules/operations/doctor/check.js';

const STATUS_WIDTH = 'warning'.length;

export function addDoctorCommand(program: CliCommand): void {
  program
    .command('doctor')
    .summary('Check the installation; correct counters with --fix.')
    .description(
      'Check the configuration, SMS gateway, metrics, database, permissions, schema, clock, counters, phone numbers and jobs. Run it with the variables of the service, as its user. Each result is ok, warning or failed; below a warning or failure is what to do. Sends no message. Exits with 1 if a check failed. Changes nothing without --fix.',
    )
    .option(
      '--fix',
      'correct counters that differ from the rows they count, and delete records of jobs that ran in the future',
    )
    .acceptsReason()
    .printsJson('{ok, findings: [{check, status, summary, remedy?}]}')
    .examples('doctor', 'doctor --json', 'doctor --fix --reason "Restored"')
    .runsWith('nothing')
    .execute(async (session, { fix = false }: { fix?: boolean }) => {
      const onCheck = (name: string): void => session.progress(`Checking ${name} …`);
      const options = { onCheck, ...(fix && { repairAs: session.change }) };
      return doctorResult(await findings(session, options), session.width);
    });
}

async function findings(session: Session, options: CheckOptions): Promise<NamedFinding[]> {
  const [{ ConfigError, loadConfig }, checks] = await Promise.all([
    import('../../platform/config/load-config.js'),
    import('../../modules/operations/doctor/settings.checks.js'),
  ]);
  let config;
  try {
    config = loadConfig(session.context.env);
  } catch (error) {
    if (error instanceof ConfigError) return checks.configurationFindings(error);
    throw error;
  }
  const found = await checks.checkSettings(config, options);
  let doctor;
  try {
    doctor = session.get('Doctor');
  } catch (error) {
    return [...found, checks.startFinding(error)];
  }
  return [...found, ...(await doctor.run(options))];
}

function doctorResult(found: readonly NamedFinding[], width: number): Result {
  const failures = found.filter(({ status }) => status === 'failed').length;
  return {
    json: { ok: failures === 0, findings: found },
    text: found.map((finding) => textOf(finding, width)).join('\n'),
    ...(failures > 0 && {
      failure: failures === 1 ? '1 check failed.' : `${failures} checks failed.`,
    }),
  };
}

/** Remedies have their own line and are not wrapped, so that they can be pasted. */
function textOf({ status, check, summary, remedy }: NamedFinding, width: number): string {
  const indent = ' '.repeat(STATUS_WIDTH + 2);
  const [first = '', ...rest] = wrap(`${check}: ${summary}`, width - indent.length);
  return [
    `${status.padEnd(indent.length)}${first}`,
    ...[...rest, ...(remedy === undefined ? [] : [remedy])].map((line) => `${indent}${line}`),
  ].join('\n');
}
