import { InvalidRequest } from '../../platform/errors.js';
import type { CliCommand } from '../command.js';
import { keyValues } from '../tables.js';

const EXAMPLE = 'token revoke --reason "Found in a public log" < token.txt';

export function addTokenCommands(program: CliCommand): void {
  program
    .command('token')
    .description('Revoke access and refresh tokens.')
    .examples(EXAMPLE)
    .command('revoke')
    .summary('Revoke an access or refresh token.')
    .description(
      'Read an access or refresh token from standard input, revoke it and print its app and user. Revoking a refresh token revokes its grant and all tokens of the grant.',
    )
    .acceptsReason()
    .examples('token revoke', EXAMPLE, 'token revoke --json < token.txt')
    .execute(async (session) => {
      const token = await session.readSecret('Paste the token and press Enter:');
      if (token === '')
        throw new InvalidRequest('Standard input contains no token. Nothing was revoked.');
      const { kind, grantId, clientId, userId, revokedNow } = await session
        .get('TokensService')
        .revokeAsOperator(token, session.change);
      const { name: app } = await session.get('AppsService').get(clientId);
      const summary = { kind, app, client_id: clientId, user_id: userId, grant_id: grantId };
      const revoked = kind === 'access' ? 'the token' : 'the grant and all its tokens';
      return {
        json: { ...summary, ended_now: revokedNow },
        text: keyValues(summary),
        note: revokedNow ? `Revoked ${revoked}.` : 'No change. It was already revoked.',
      };
    });
}
