import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { type CliCommand, EXAMPLE_USER } from '../command.js';
import type { Result, Session } from '../session.js';
import { formatNumber, keyValues } from '../tables.js';
import { InvalidRequest } from '../../platform/errors.js';
import { reasonOf } from '../../platform/permission-model.js';

export function addUserDataCommands(user: CliCommand): void {
  user
    .command('export')
    .summary('Export all data about a user.')
    .description(
      'Export all data about a user as one JSON document: profile, posts (including deleted posts that are not yet pruned), comments, likes, grants, sessions, API calls and audit events. Includes the full phone number, but no hashes. The audit log records the export.',
    )
    .argument('<user_id>')
    .option('--output <file>', 'write to a new file that only you can read')
    .acceptsReason()
    .printsJson('{file, bytes} with --output, else {user_id, exported_at, …}')
    .examples(
      `user export ${EXAMPLE_USER} --output ana.json`,
      `user export ${EXAMPLE_USER} | gzip > ana.gz`,
    )
    .execute(async (session, id: string, { output }: { output?: string }) => {
      if (output !== undefined && existsSync(output))
        throw new InvalidRequest(`${output} already exists. Choose another file name.`);
      const pieces = await session.get('PersonalData').export(id, session.change);
      if (output === undefined) {
        for await (const piece of pieces) await session.print(piece);
        return undefined;
      }
      return writeToFile(session, output, pieces);
    });

  user
    .command('erase')
    .summary('Erase a user and all their data.')
    .description(
      "Erase a user permanently. Revokes all tokens, then deletes the user's posts (with all comments and likes on them; those of other users are counted as comments_of_others and post_likes_of_others), the user's comments and likes on other posts, sessions, rate-limit counts and the user. Removes the user from the call log, and their IP address from audit events. Takes at least 46 seconds, because it waits for requests of the user that have begun. This cannot be undone. If interrupted, run the command again.",
    )
    .argument('<user_id>')
    .acceptsDryRun('show how many rows would be deleted, but delete nothing')
    .requiresConfirmation()
    .printsJson('{id, dry_run, tables: {…}}')
    .examples(
      `user erase ${EXAMPLE_USER} --dry-run`,
      `user erase ${EXAMPLE_USER} --reason "Requested by the member"`,
      `user erase ${EXAMPLE_USER} --yes --json`,
    )
    .execute(async (session, id: string) => {
      const data = session.get('PersonalData');
      const { isDryRun } = session;
      await session.confirm(`Erase "${await data.nameOf(id)}" permanently?`);
      const tables = isDryRun
        ? await data.previewErasure(id)
        : await data.erase(id, {
            change: session.change,
            onWait: (seconds) =>
              session.progress(`Waiting ${seconds} s for requests that have begun`),
            onBatch: (name, rows) => session.progress(`${name}: ${formatNumber(rows, 'row')}`),
          });
      return {
        json: { id, dry_run: isDryRun, tables },
        text: `${isDryRun ? 'Would delete' : 'Deleted'} (${isDryRun ? 'anonymize' : 'anonymized'} in api_calls and audit_events):\n${keyValues(tables)}`,
      };
    });
}

/** Writes to a temporary file and renames it when it is complete. */
async function writeToFile(
  session: Session,
  path: string,
  pieces: AsyncIterable<string>,
): Promise<Result> {
  const temporaryPath = `${path}.part`;
  const file = await open(temporaryPath, 'w', 0o600).catch((error: Error) => {
    throw new InvalidRequest(`Cannot write ${path}: ${reasonOf(error)}.`);
  });
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      bytes += (await file.write(piece)).bytesWritten;
      session.progress(`${bytes} bytes`);
    }
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return { json: { file: path, bytes }, text: `Wrote ${bytes} bytes to ${path}.` };
}
