import { type CliCommand, examples, PROGRAM } from '../command.js';

export function addDemoCommands(program: CliCommand): void {
  // A whole shell command. `examples` would add a prefix to it.
  const example = `TOKEN="$(${PROGRAM} demo token)"`;
  const demo = program
    .command('demo')
    .description('Try the API on a demo database.')
    .addHelpText('before', `Examples:\n  ${example}\n`);

  demo
    .command('token')
    .description('Print an access token for the demo user.')
    .printsJson('{access_token, token_type}')
    .addHelpText('before', `${examples('demo token')}  ${example}\n`)
    .execute(async (session) => {
      const token = await session.get('DemoToken').issue();
      return { json: { access_token: token, token_type: 'Bearer' }, text: token };
    });
}
