// What the server stores on the member's computer. Only the member's account of the operating system may read it.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export const {
  ISSUER = 'http://localhost:3000',
  CLIENT_ID = 'svc_app_test_00000000000000000000000001',
} = process.env;

/** Each issuer and app has its own folder, so that tokens are never sent to another issuer. */
const FOLDER = join(homedir(), '.neighbourhood-mcp', encodeURIComponent(ISSUER), CLIENT_ID);
await mkdir(FOLDER, { recursive: true, mode: 0o700 });
const TOKENS = join(FOLDER, 'tokens.json');
const LOCK = join(FOLDER, 'lock');
/** A lock that is not renewed for this time belongs to a server that was killed. */
const MAX_LOCK_MS = 60_000;

const absent = (error) => (error.code === 'ENOENT' ? 'null' : Promise.reject(error));
/** The value in a file, or null if there is no file. */
const load = async (file) => JSON.parse(await readFile(file, 'utf8').catch(absent));

/** After a crash, the file has the old or the new value. */
async function save(file, value) {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(value), { mode: 0o600, flush: true });
  await rename(draft, file);
}

/** The tokens of the member. The client waits for `set` before it uses new tokens. */
export const store = {
  get: () => load(TOKENS),
  set: (tokens) => save(TOKENS, tokens),
  clear: () => rm(TOKENS, { force: true }),
  /** Each agent of the member starts its own server, and only one of them may refresh the tokens at a time. */
  async lock(work) {
    // The result is undefined if the folder exists.
    while ((await mkdir(LOCK, { recursive: true })) === undefined) {
      const { mtimeMs } = await stat(LOCK).catch(() => ({ mtimeMs: Date.now() }));
      if (Date.now() - mtimeMs > MAX_LOCK_MS) await unlock();
      else await setTimeout(100);
    }
    const renewal = setInterval(() => utimes(LOCK, new Date(), new Date()).catch(() => 0), 10_000);
    return work()
      .finally(() => clearInterval(renewal))
      .finally(unlock);
  },
};

const unlock = () => rmdir(LOCK).catch(() => undefined);

/**
 * Sends a POST with a key that is stored until the agent gets the result. If a response is lost, the same call sends the same key, even
 * in another process, so that the item is created once.
 */
export async function sendOnce(call, signal, send) {
  const hash = createHash('sha256').update(JSON.stringify(call)).digest('hex');
  const file = join(FOLDER, `${hash}.key`);
  const idempotencyKey = (await load(file)) ?? randomUUID();
  await save(file, idempotencyKey);
  const result = await send({ idempotencyKey, signal });
  // An agent that gave up does not get the result.
  if (!signal.aborted) await rm(file, { force: true });
  return result;
}
