import { InvalidRequest } from '../../platform/errors.js';
import type { CliCommand } from '../command.js';
import { keyValues } from '../tables.js';

const EXAMPLE = 'token revoke --yes --reason "Found in a public log" < token.txt';

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
    .requiresConfirmation()
    .printsJson('{kind, app, client_id, user_id, grant_id, revoked}')
    .examples('token revoke', EXAMPLE, 'token revoke --yes --json < token.txt')
    .execute(async (session) => {
      const token = await session.readSecret('Paste the token and press Enter:');
      if (token === '')
        throw new InvalidRequest('Standard input contains no token. Nothing was revoked.');
      const tokens = session.get('TokensService');
      const found = await tokens.get(token);
      const { kind, grantId, clientId, userId } = found;
      const { name: app } = await session.get('AppsService').get(clientId);
      await session.confirm(
        kind === 'access'
          ? `Revoke the access token of "${app}" for ${userId}?`
          : `Revoke the grant of ${userId} to "${app}", with all its tokens?`,
      );
      const revokedNow = await tokens.revokeAsOperator(found, session.change);
      const revoked = kind === 'access' ? 'the token' : 'the grant and all its tokens';
      const summary = { kind, app, client_id: clientId, user_id: userId, grant_id: grantId };
      return {
        json: { ...summary, revoked: revokedNow },
        text: keyValues(summary),
        note: revokedNow ? `Revoked ${revoked}.` : 'No change. It was already revoked.',
      };
    });
}
