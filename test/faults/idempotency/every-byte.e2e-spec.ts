import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { onEachEngine } from '../../support/database.js';
import { expectedCounts, countPublished } from '../../support/fixtures.js';
import { Member } from '../../support/member.js';
import { requestsInFlight, useTestApp } from '../../support/test-app.js';
import { reportFigure } from '../figures.js';
import { byExtent } from '../../suite.js';

const BODY = '{"content":"Hi"}';
const BYTE_STEP = byExtent({ whole: 1, quick: 17 });

/** The bytes of a publish request. */
function publishRequest({ app, token }: Member, key: string): string {
  return [
    'POST /dev/v1/posts HTTP/1.1',
    `Host: ${new URL(app.baseUrl).host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Idempotency-Key: ${key}`,
    `Content-Length: ${BODY.length}`,
    '',
    BODY,
  ].join('\r\n');
}

/** How a client disconnects: with FIN or with RST. */
const ENDINGS = ['close', 'reset'] as const;

/** Sends a part of the request and disconnects. */
async function disconnectAfter(
  { app }: Member,
  part: string,
  ending: (typeof ENDINGS)[number],
): Promise<void> {
  const { hostname, port } = new URL(app.baseUrl);
  const accepted = once(app.nest.getHttpServer(), 'connection') as Promise<[Socket]>;
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  await new Promise((resolve) => socket.write(part, resolve));
  if (ending === 'reset') {
    // A reset discards bytes that the server has not read yet.
    const [peer] = await accepted;
    while (peer.bytesRead < part.length) await setImmediate();
    socket.resetAndDestroy();
  } else socket.destroy();
  await closed;
}

onEachEngine('Client that disconnects at each byte of a publish request', (database) => {
  const app = useTestApp(database, { QUOTA_DEFAULT_LIMIT: '100000' });

  it(
    'publishes nothing before the last byte, and exactly once when the client retries with the same key',
    { timeout: 300_000 },
    async ({ task }) => {
      const member = await Member.join(app());
      // All keys have this length, and so all requests the same number of bytes.
      const { length: requestLength } = publishRequest(member, 'key-0000-close');
      const keys: string[] = [];
      const disconnectAt = async (bytes: number): Promise<void> => {
        for (const ending of ENDINGS) {
          const key = `key-${String(bytes).padStart(4, '0')}-${ending}`;
          await disconnectAfter(member, publishRequest(member, key).slice(0, bytes), ending);
          keys.push(key);
        }
      };
      for (let bytes = 0; bytes < requestLength; bytes += BYTE_STEP) await disconnectAt(bytes);
      // The server may still be reading the bytes of the last clients.
      await member.get('/me');
      await expect.poll(() => requestsInFlight(app())).toBe(0);
      expect(await countPublished(app(), member)).toEqual(expectedCounts(0));
      await disconnectAt(requestLength);
      await expect.poll(() => requestsInFlight(app())).toBe(0);
      for (const key of keys) {
        const headers = { 'content-type': 'application/json', 'idempotency-key': key };
        expect((await member.postRaw('/posts', BODY, headers)).status).toBe(201);
      }
      expect(await countPublished(app(), member)).toEqual(expectedCounts(keys.length));
      const { engine } = database;
      reportFigure(
        task,
        `${engine.label}: ${keys.length} clients disconnected, half of them with a reset; none published before the last byte, each once on retry`,
      );
    },
  );
});
