import type { Command } from 'commander';
import { examples, type RunCommand } from './command.js';

/** `demo token`. */
export function addDemoCommands(program: Command, run: RunCommand): void {
  const example = 'TOKEN="$(npm run -s cli -- demo token)"';
  const demo = program
    .command('demo')
    .description('Something to try on a demo database.')
    .addHelpText('before', `Examples:\n  ${example}\n`);

  demo
    .command('token')
    .description('Print an access token of the demo user, with every scope.')
    .addHelpText('before', `${examples('demo token')}  ${example}\n`)
    .action((_options, command: Command) =>
      run(command, async (session) => {
        const { DemoService } = await import('../modules/demo/demo.service.js');
        const token = await session.get(DemoService).accessToken();
        return { json: { access_token: token, token_type: 'Bearer' }, text: token };
      }),
    );
}
