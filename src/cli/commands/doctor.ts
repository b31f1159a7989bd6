import type { CliCommand, Result } from '../command.js';
import type { Session } from '../session.js';
import { WIDTH, wrapped } from '../tables.js';
import type { CheckOptions, NamedFinding } from '../../modules/operations/doctor/check.js';

const STATUS_WIDTH = 'warning'.length;

export function addDoctorCommand(program: CliCommand): void {
  const doctor = program
    .command('doctor')
    .summary('Examine the installation, and say what to do.')
    .description(
      'Examine the installation: configuration, SMS gateway, metrics, database, permissions, schema, clock, counters and jobs. Each finding is ok, a warning or failed, and comes with its remedy. Ends with exit code 1 when one failed. Writes nothing, unless --fix is given, and then counters only; safe to run at any time.',
    )
    .option('--fix', 'set counters right that are not what they count')
    .audited()
    .examples('doctor', 'doctor --json', 'doctor --fix --reason "Restored"')
    .onAnySchema()
    .execute(async (session, { fix = false }: { fix?: boolean }) => {
      const onCheck = (name: string): void => session.progress(`Looking at ${name} …`);
      const settings = { onCheck, ...(fix && { repair: session.change }) };
      return doctorResult(await findings(session, settings));
    });
  doctor.anyStart = true;
}

async function findings(session: Session, settings: CheckOptions): Promise<NamedFinding[]> {
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
  const found = await checks.checkSettings(config, settings);
  let doctor;
  try {
    doctor = session.get('Doctor');
  } catch (error) {
    return [...found, checks.startFinding(error)];
  }
  return [...found, ...(await doctor.run(settings))];
}

function doctorResult(found: readonly NamedFinding[]): Result {
  const failures = found.filter(({ status }) => status === 'failed').length;
  return {
    json: { ok: failures === 0, findings: found },
    text: found.map(textOf).join('\n'),
    ...(failures > 0 && {
      failure: failures === 1 ? '1 check failed.' : `${failures} checks failed.`,
    }),
  };
}

/** A remedy has its own line and is never cut, so that it can be pasted. */
function textOf({ status, check, summary, remedy }: NamedFinding): string {
  const indent = ' '.repeat(STATUS_WIDTH + 2);
  const [first = '', ...rest] = wrapped(`${check}: ${summary}`, WIDTH - indent.length);
  return [
    `${status.padEnd(indent.length)}${first}`,
    ...[...rest, ...(remedy === undefined ? [] : [remedy])].map((line) => `${indent}${line}`),
  ].join('\n');
}
