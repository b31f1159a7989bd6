import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { CliCommand, Result } from '../command.js';
import type { Session } from '../session.js';
import { keyValues } from '../tables.js';
import { InvalidRequest } from '../../platform/errors.js';

const USER_ID = 'usr_01h455vb4pex5vsknk084sn02q';

export function addUserExportCommand(user: CliCommand): void {
  user
    .command('export')
    .summary('Write everything that is held about a user.')
    .description(
      'Write everything that is held about a user as one JSON document: profile, posts (deleted ones that are kept included), comments, likes, grants, sign-ins, calls and audit events. It holds the phone number in full. Hashes are left out. Changes nothing.',
    )
    .argument('<user_id>')
    .option('--output <file>', 'a new file, which only you may read, in place of standard output')
    .examples(`user export ${USER_ID} --output ana.json`, `user export ${USER_ID} | gzip > ana.gz`)
    .execute(async (session, id: string, { output }: { output?: string }) => {
      const pieces = await session.get('UserExport').document(id);
      if (output === undefined) {
        for await (const piece of pieces) await session.print(piece);
        return undefined;
      }
      return writeFile(session, output, pieces);
    });
}

/** The file has another name until it is complete. */
async function writeFile(
  session: Session,
  path: string,
  pieces: AsyncIterable<string>,
): Promise<Result> {
  if (existsSync(path)) throw new InvalidRequest(`${path} exists already. Name a new file.`);
  const part = `${path}.part`;
  const file = await open(part, 'w', 0o600).catch((error: Error) => {
    throw new InvalidRequest(`${path} cannot be written: ${error.message}.`);
  });
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      bytes += (await file.write(piece)).bytesWritten;
      session.progress(`${bytes} bytes`);
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return { json: { file: path, bytes }, text: `Wrote ${bytes} bytes to ${path}.` };
}

export function addUserEraseCommand(user: CliCommand): void {
  user
    .command('erase')
    .summary('Remove a user, and everything that tells about them.')
    .description(
      'Remove a user for good: every token stops at once, then posts go with the comments and likes on them, comments and likes elsewhere, sign-ins and counted attempts, and the user at last. The call log forgets whose calls they were; audit events keep the id and lose the address. There is no way back. Safe to stop and to run again. Asks first at a terminal; scripts and --json are not asked.',
    )
    .argument('<user_id>')
    .option('--dry-run', 'remove nothing, and show how many rows would go')
    .confirmed()
    .examples(
      `user erase ${USER_ID} --dry-run`,
      `user erase ${USER_ID} --reason "Requested by the member"`,
      `user erase ${USER_ID} --yes --json`,
    )
    .execute(async (session, id: string, { dryRun = false }: { dryRun?: boolean }) => {
      const erasure = session.get('UserErasure');
      if (dryRun) return erasedResult(id, await erasure.preview(id), true);
      await session.confirm(`Erase "${await erasure.nameOf(id)}" for good?`);
      const tables = await erasure.run(id, {
        change: session.change,
        onBatch: (name, rows) => session.progress(`${name}: ${rows} rows`),
      });
      return erasedResult(id, tables, false);
    });
}

function erasedResult(id: string, tables: Record<string, number>, dryRun: boolean): Result {
  return {
    json: { id, dry_run: dryRun, tables },
    text: `${dryRun ? 'Would remove, and anonymize' : 'Removed, and anonymized'} in api_calls and audit_events:\n${keyValues(tables)}`,
  };
}
