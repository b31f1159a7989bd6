// What the server stores on the member's computer. Only the member's account of the operating system may read it.
import { hash, randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export const ISSUER = process.env.ISSUER ?? 'http://localhost:3000';
export const CLIENT_ID = process.env.CLIENT_ID ?? 'svc_app_test_00000000000000000000000001';

/** Each issuer and app has its own folder, so that tokens are never sent to another issuer. */
const FOLDER = join(homedir(), '.neighbourhood-mcp', encodeURIComponent(ISSUER), CLIENT_ID);
await fs.mkdir(FOLDER, { recursive: true, mode: 0o700 });
const TOKENS = join(FOLDER, 'tokens.json');
const LOCK = join(FOLDER, 'lock');

const absent = (error) => (error.code === 'ENOENT' ? 'null' : Promise.reject(error));
/** The value in a file, or null if there is no file. */
const load = async (file) => JSON.parse(await fs.readFile(file, 'utf8').catch(absent));

/** After a crash, the file has the old or the new value. */
async function save(file, value) {
  const draft = `${file}.${randomUUID()}`;
  await fs.writeFile(draft, JSON.stringify(value), { mode: 0o600, flush: true });
  await fs.rename(draft, file);
}

/** The tokens of the member. The client waits for `set` before it uses new tokens. */
export const store = {
  get: () => load(TOKENS),
  set: (tokens) => save(TOKENS, tokens),
  clear: () => fs.rm(TOKENS, { force: true }),
  /** Each agent starts its own server; only one may refresh at a time. The file in the lock names the owner: only that lock is removed. */
  async lock(work) {
    const owner = randomUUID();
    const draft = join(FOLDER, owner);
    const renew = (folder) => fs.utimes(join(folder, owner), new Date(), new Date());
    await fs.mkdir(draft);
    await fs.writeFile(join(draft, owner), '');
    // Fails while the lock has a file.
    while (!(await renew(draft).then(() => succeeds(fs.rename(draft, LOCK))))) {
      const [other = ''] = await fs.readdir(LOCK).catch(() => []);
      const { mtimeMs } = await fs.stat(join(LOCK, other)).catch(() => ({ mtimeMs: Infinity }));
      // A lock that is not renewed for a minute belongs to a server that was killed.
      if (Date.now() - mtimeMs > 60_000) await unlock(other);
      else await setTimeout(100);
    }
    const renewal = setInterval(() => succeeds(renew(LOCK)), 10_000);
    return work().finally(() => unlock(owner, renewal));
  },
};

const succeeds = (promise) => promise.then(() => true).catch(() => false);

async function unlock(owner, renewal) {
  clearInterval(renewal);
  await succeeds(fs.rm(join(LOCK, owner), { force: true }));
  await succeeds(fs.rmdir(LOCK));
}

/** Sends a POST with a key that is stored until the agent gets the result: a repeat of the call sends it again, even in another process. */
export async function sendOnce(call, signal, send) {
  const file = join(FOLDER, `${hash('sha256', JSON.stringify(call))}.key`);
  const idempotencyKey = (await load(file)) ?? randomUUID();
  await save(file, idempotencyKey);
  const result = await send({ idempotencyKey, signal });
  // An agent that gave up does not get the result.
  if (!signal.aborted) await fs.rm(file, { force: true });
  return result;
}
