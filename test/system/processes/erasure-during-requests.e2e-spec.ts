import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandLine, runCommand, SHORT_REQUESTS } from '../../support/command-line.js';
import { dumpTables, onSqliteAndOneServer, tablesContaining } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { flushDeferredWrites, requestsInFlight, useTestApp } from '../../support/test-app.js';

const REQUESTS = 30;
/** Bodies arrive after this time, which is longer than a call waits in the queue of the call log, and shorter than the timeout. */
const BODY_MS = 3500;
const SETTINGS = { ...SHORT_REQUESTS, REQUEST_TIMEOUT_MS: '4000' };

onSqliteAndOneServer(
  'Command "user erase" while requests of the user are under way',
  (database) => {
    const app = useTestApp(database, SETTINGS);
    const cli = new CommandLine(database, runCommand, SETTINGS);

    /** Sends the head of a request and the first byte of its body. */
    function begin(token: string, path: string, body: string): ClientRequest {
      const begun = httpRequest(new URL(`/dev/v1${path}`, app().baseUrl), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': body.length,
        },
      });
      begun.write(body.slice(0, 1));
      return begun;
    }

    async function statusOf(begun: ClientRequest): Promise<number | undefined> {
      const [response] = (await once(begun, 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    }

    it('leaves no row of the user, whatever their requests did', async () => {
      app().clock.set(new Date().toISOString());
      const member = await Member.join(app());
      const post = await member.publish({ content: 'Hi' });
      const text = JSON.stringify({ text: 'Later' });
      const content = JSON.stringify({ content: 'Later' });
      const begun = Array.from({ length: REQUESTS }, (_, index) =>
        index % 3 === 0
          ? { request: begin(member.token, '/posts', content), rest: content.slice(1) }
          : {
              request: begin(member.token, `/posts/${post.id}/comments`, text),
              rest: text.slice(1),
            },
      );
      const statuses = begun.map(({ request }) => statusOf(request));
      await expect.poll(() => requestsInFlight(app())).toBe(REQUESTS);
      const erased = cli.json('user', 'erase', member.user.id, '--yes');
      await sleep(BODY_MS);
      for (const { request, rest } of begun) request.end(rest);
      await Promise.all(statuses);
      await erased;
      await flushDeferredWrites(app());
      expect(tablesContaining(await dumpTables(app().dataSource), member.user.id)).toEqual([
        'audit_events',
      ]);
      expect(await app().dataSource.query('SELECT id FROM comments')).toEqual([]);
    });
  },
);
