import type { Command } from 'commander';
import { type Answer, examples, type RunCommand, type Session, wrapped } from './command.js';
import { textUpTo } from './option-values.js';
import { WIDTH } from './tables.js';
import type { AppConfig } from '../platform/config/app-config.js';
import type { Manner, NamedFinding } from '../modules/operations/doctor/check.js';

const LONGEST_STATUS = 'warning'.length;

/** `doctor`. `readConfig` reads the configuration, which this command looks at before the application is started. */
export function addDoctorCommand(
  program: Command,
  run: RunCommand,
  readConfig: () => Promise<AppConfig>,
): void {
  program
    .command('doctor')
    .summary('Examine the installation, and say what to do.')
    .description(
      'Examine the installation: configuration, SMS gateway, metrics, database, permissions, schema, clock, counters and jobs. Each finding is ok, a warning or failed, and comes with its remedy. Ends with exit code 1 when one failed. Writes nothing, unless --fix is given, and then counters only; safe to run at any time.',
    )
    .option('--fix', 'set counters right that are not what they count')
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .addHelpText('before', examples('doctor', 'doctor --json', 'doctor --fix --reason "Restored"'))
    .action(({ fix = false }: { fix?: boolean }, command: Command) =>
      run(
        command,
        async (session) => {
          const onCheck = (name: string): void => session.progress(`Looking at ${name} …`);
          const manner = { onCheck, ...(fix && { repair: session.change }) };
          return answerOf(await findings(session, readConfig, manner));
        },
        { onAnyStart: true, onAnySchema: true },
      ),
    );
}

async function findings(
  session: Session,
  readConfig: () => Promise<AppConfig>,
  manner: Manner,
): Promise<NamedFinding[]> {
  const [{ ConfigError }, { configurationFindings, examineSettings, startFinding }, { Doctor }] =
    await Promise.all([
      import('../platform/config/load-config.js'),
      import('../modules/operations/doctor/settings.checks.js'),
      import('../modules/operations/doctor/doctor.service.js'),
    ]);
  const config = await readConfig().catch((error: unknown) => {
    if (error instanceof ConfigError) return error;
    throw error;
  });
  if (config instanceof ConfigError) return configurationFindings(config);
  const ofSettings = await examineSettings(config, manner);
  let doctor: InstanceType<typeof Doctor>;
  try {
    doctor = session.get(Doctor);
  } catch (error) {
    return [...ofSettings, startFinding(error)];
  }
  return [...ofSettings, ...(await doctor.examine(manner))];
}

function answerOf(found: readonly NamedFinding[]): Answer {
  const failures = found.filter(({ status }) => status === 'failed').length;
  return {
    json: { ok: failures === 0, findings: found },
    text: found.map(textOf).join('\n'),
    ...(failures > 0 && {
      failure: failures === 1 ? '1 check failed.' : `${failures} checks failed.`,
    }),
  };
}

/** A remedy is a line of its own that is never cut, so that it can be pasted. */
function textOf({ status, check, summary, remedy }: NamedFinding): string {
  const [gap, indent] = ['  ', ' '.repeat(LONGEST_STATUS + 2)];
  const [first = '', ...rest] = wrapped(`${check}: ${summary}`, WIDTH - indent.length);
  return [
    `${status.padEnd(LONGEST_STATUS)}${gap}${first}`,
    ...[...rest, ...(remedy === undefined ? [] : [remedy])].map((line) => `${indent}${line}`),
  ].join('\n');
}
