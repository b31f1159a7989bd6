import { InvalidRequest } from '../../platform/errors.js';
import type { CliCommand } from '../command.js';
import { keyValues } from '../tables.js';

const EXAMPLE = 'token revoke --reason "Found in a public log" < token.txt';

export function addTokenCommands(program: CliCommand): void {
  program
    .command('token')
    .description('Access and refresh tokens.')
    .examples(EXAMPLE)
    .command('revoke')
    .summary('End a token that somebody found.')
    .description(
      'End the access or refresh token that standard input holds, and tell whose it was. An access token ends alone; a refresh token ends its grant, with every token of it. Safe to repeat.',
    )
    .audited()
    .examples('token revoke', EXAMPLE, 'token revoke --json < token.txt')
    .execute(async (session) => {
      const token = await session.readSecret('Paste the token and press Enter:');
      if (token === '')
        throw new InvalidRequest('Standard input holds no token. Nothing was revoked.');
      const { kind, grantId, clientId, userId, endedNow } = await session
        .get('TokensService')
        .revokeAny(token, session.change);
      const { name: app } = await session.get('AppsService').show(clientId);
      const owner = { kind, app, client_id: clientId, user_id: userId, grant_id: grantId };
      const ended = kind === 'access' ? 'The token' : 'The grant, with every token of it,';
      return {
        json: { ...owner, ended_now: endedNow },
        text: keyValues(owner),
        note: endedNow ? `${ended} has ended.` : `${ended} had ended before.`,
      };
    });
}
