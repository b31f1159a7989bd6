import { type CliCommand, EXAMPLE_USER } from '../command.js';
import { parseUserId } from '../option-values.js';
import { membersOf } from '../tables.js';

const USER = `--user ${EXAMPLE_USER}`;
const SESSION_MEMBERS = 'session, created_at, last_extended_at, expires_at';
const LIST = `session list ${USER}`;
const END = `session end 3f9a1c0b7d2e ${USER}`;
const USER_OPTION = ['--user <user_id>', 'id of the user', parseUserId] as const;

export function addSessionCommands(program: CliCommand): void {
  const sessions = program
    .command('session')
    .description('List and end the sign-in sessions of a user.')
    .examples(LIST, END);

  sessions
    .command('list')
    .summary('List the sign-in sessions of a user, newest first.')
    .description(
      'List the browsers in which a user is signed in, newest first. Each use extends a session, up to 12 hours in total. LAST_EXTENDED is the last use that did; "-" means that the session was not used after the sign-in, or can no longer be extended.',
    )
    .requiredOption(...USER_OPTION)
    .printsJson(`[{${SESSION_MEMBERS}}]`)
    .examples(LIST, `${LIST} --json`)
    .execute(async (session, { user }: { user: string }) => {
      const found = await session.get('UserSessions').list(user);
      const rows = found.map(({ handle, createdAt, lastExtendedAt, expiresAt }) => [
        handle,
        session.time(createdAt),
        lastExtendedAt ? session.time(lastExtendedAt) : '-',
        session.time(expiresAt),
      ]);
      return {
        json: found.map((one) => membersOf(SESSION_MEMBERS, one, { session: one.handle })),
        text: session.list(
          ['SESSION', 'CREATED', 'LAST_EXTENDED', 'EXPIRES'],
          rows,
          'The user is not signed in.',
        ),
      };
    });

  sessions
    .command('end')
    .summary('End one sign-in session of a user.')
    .description(
      'End one sign-in session of a user: its browser is signed out at once. Apps keep their access; use "grant revoke" or "user revoke-all" to end that. Ended sessions are deleted, so the command fails if the session has already ended.',
    )
    .argument('<session>', 'from "session list"')
    .requiredOption(...USER_OPTION)
    .requiresConfirmation()
    .printsJson('{user_id, session}')
    .examples(`${END} --reason "Shared computer"`, `${END} --yes --json`)
    .execute(async (session, handle: string, { user }: { user: string }) => {
      const userSessions = session.get('UserSessions');
      const { name } = await session.get('UsersService').get(user);
      const found = await userSessions.find(user, handle);
      await session.confirm(`End the sign-in session ${handle} of "${name}"?`);
      await userSessions.end(found, session.change);
      return {
        json: { user_id: user, session: handle },
        text: `Ended the sign-in session ${handle} of ${user}.`,
      };
    });
}
