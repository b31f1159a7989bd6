import { Option, type Command } from 'commander';
import { HOUR, SECOND } from '../../../common/clock.js';
import { examples, table, type RunCommand } from '../../../command-line/command.js';
import { duration, textUpTo } from '../../../command-line/option-values.js';
import { SHOWN_ONCE } from './app-answer.js';

const ROTATE = 'app secret rotate svc_app_01h455vb4pex5vsknk084sn02q';

interface RotateOptions {
  grace: number;
}

/** `app secret rotate`. A secret is printed, never taken as an argument. */
export function addAppSecretCommands(app: Command, run: RunCommand): void {
  const secret = app
    .command('secret')
    .description('The client secrets of confidential apps.')
    .addHelpText('before', examples(ROTATE));

  secret
    .command('rotate')
    .description(
      'Give the app a new client secret, shown once. With --grace 0 it asks first at a terminal; scripts and --json are not asked.',
    )
    .argument('<client_id>')
    .addOption(
      new Option('--grace <time>', 'how long old secrets still work; 0 ends them now')
        .argParser(duration)
        .default(24 * HOUR, '24h'),
    )
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .option('--yes', 'do not ask')
    .addHelpText(
      'before',
      examples(ROTATE, `${ROTATE} --grace 0 --reason "The old one was published"`),
    )
    .action((clientId: string, { grace }: RotateOptions, command: Command) =>
      run(command, async (session) => {
        const { AppsService } = await import('./apps.service.js');
        const apps = session.get(AppsService);
        const { name } = await apps.show(clientId);
        if (grace === 0) await session.confirm(`End every secret of "${name}" at once?`);
        const newSecret = await apps.rotateSecret(clientId, grace, session.change);
        return {
          json: {
            client_id: clientId,
            client_secret: newSecret,
            grace_seconds: grace / SECOND,
          },
          text: table([
            ['client_id', clientId],
            ['client_secret', newSecret],
          ]),
          remark: SHOWN_ONCE,
        };
      }),
    );
}
