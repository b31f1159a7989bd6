import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * The range lies above the ports that `fetch` blocks, and below the ephemeral ports, which an outgoing connection could take before
 * the server listens.
 */
const FIRST = 11_000;
const AFTER_LAST = 32_000;
const MOST_TRIES = 20;
/** An upper bound for the number of workers, including the global setup. */
const WORKERS = 8;
const PORTS_EACH = Math.floor((AFTER_LAST - FIRST) / WORKERS);
const WORKER = Number(process.env.VITEST_POOL_ID ?? 0);
if (WORKER >= WORKERS) throw new Error(`Ports are for ${WORKERS - 1} workers at once.`);
let turn = randomInt(PORTS_EACH);

/** Returns a free TCP port on loopback that this run does not assign again soon. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < MOST_TRIES; tried += 1) {
    turn = (turn + 1) % PORTS_EACH;
    const port = FIRST + WORKERS * turn + WORKER;
    if (await isFree(port)) return port;
  }
  throw new Error('No TCP port is free.');
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
