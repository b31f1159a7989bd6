import { InvalidRequest } from '../platform/errors.js';
import type { Command } from 'commander';
import { examples, type Answer, type RunCommand } from './command.js';
import { textUpTo } from './option-values.js';
import { table } from './tables.js';
import type { StoredToken } from '../modules/oauth/tokens/tokens.repository.js';

const EXAMPLE = 'token revoke --reason "Found in a public log" < token.txt';

/** `token revoke`. */
export function addTokenCommands(program: Command, run: RunCommand): void {
  program
    .command('token')
    .description('Access and refresh tokens.')
    .addHelpText('before', examples(EXAMPLE))
    .command('revoke')
    .summary('End a token that somebody found.')
    .description(
      'End the access or refresh token that standard input holds, and tell whose it was. An access token ends alone; a refresh token ends its grant, with every token of it. Safe to repeat.',
    )
    .option('--reason <text>', 'why, for the audit log', textUpTo(500))
    .addHelpText('before', examples('token revoke', EXAMPLE, 'token revoke --json < token.txt'))
    .action((_options, command: Command) =>
      run(command, async (session) => {
        const [{ TokensService }, { AppsService }] = await Promise.all([
          import('../modules/oauth/tokens/tokens.service.js'),
          import('../modules/oauth/clients/apps.service.js'),
        ]);
        const token = await session.readSecret('Paste the token and press Enter:');
        if (token === '')
          throw new InvalidRequest('Standard input holds no token. Nothing was revoked.');
        const revoked = await session.get(TokensService).revokeAny(token, session.change);
        const { name } = await session.get(AppsService).show(revoked.clientId);
        return revokedAnswer(revoked, name);
      }),
    );
}

function revokedAnswer(
  { kind, grantId, clientId, userId, endedNow }: StoredToken & { endedNow: boolean },
  app: string,
): Answer {
  const told = { kind, app, client_id: clientId, user_id: userId, grant_id: grantId };
  const ended = kind === 'access' ? 'The token' : 'The grant, with every token of it,';
  return {
    json: { ...told, ended_now: endedNow },
    text: table(Object.entries(told)),
    remark: endedNow ? `${ended} has ended.` : `${ended} had ended before.`,
  };
}
