import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Above the ports that `fetch` blocks and below the ephemeral ports. An outgoing connection could take an ephemeral port before the
 * server listens on it.
 */
const FIRST_PORT = 11_000;
const END_PORT = 32_000;
const MAX_TRIES = 20;
/** Includes the global setup. */
const MAX_WORKERS = 8;
const PORTS_PER_WORKER = Math.floor((END_PORT - FIRST_PORT) / MAX_WORKERS);
const WORKER = Number(process.env.VITEST_POOL_ID ?? 0);
if (WORKER >= MAX_WORKERS)
  throw new Error(`Port ranges exist for ${MAX_WORKERS - 1} workers: run fewer workers.`);
let offset = randomInt(PORTS_PER_WORKER);

/** Returns a free TCP port on loopback. Reuses a port only after all others of its range. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    offset = (offset + 1) % PORTS_PER_WORKER;
    const port = FIRST_PORT + MAX_WORKERS * offset + WORKER;
    if (await isFree(port)) return port;
  }
  throw new Error(`No free TCP port in ${MAX_TRIES} tries.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
