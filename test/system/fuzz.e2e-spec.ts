import * as fc from 'fast-check';
import { RUNS, SEED } from '../support/arbitraries.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { placesOf, publishedDocument } from '../support/published-document.js';
import { isForm, type MadeRequest, RequestArbitraries } from '../support/request-arbitraries.js';
import { useTestApp } from '../support/test-app.js';

/** In its pattern, and the id of nothing. */
const NOBODYS = 'post_01kahq5f3veqdr8bn3tdmx3q0a';
const TIMEOUT_MS = 300_000;
const document = publishedDocument();
const places = placesOf(document);
const named = places.map((place) => [place.operation.operationId, place] as const);
/** What can be wrong with a request, of operations that take anything at all. */
const fallible = named.filter(([operationId]) => operationId !== 'metadata');

/** Servers get fewer, since the database has no say in what is valid. */
onOneEngine('Requests made from the published document', (database) => {
  const numRuns = RUNS ?? (database.engine.kind === 'sqlite' ? 500 : 50);
  const app = useTestApp(database, {
    QUOTA_DEFAULT_LIMIT: '1000000',
  });
  let member: Member;
  let requestsTo: (operationId: string) => RequestArbitraries;

  beforeAll(async () => {
    member = await Member.join(app());
    const { client } = member;
    const [post = '', ...doomed] = await many(async () => (await member.publish()).id);
    const comments = await many(async () => (await member.comment(post)).id);
    const existing: Record<string, string[]> = { deletePost: doomed, deleteComment: comments };
    const parent = await member.comment(post);
    requestsTo = (operationId) =>
      new RequestArbitraries(
        document,
        {
          client_id: fc.constant(client.clientId),
          client_secret: fc.constant(client.secret),
          redirect_uri: fc.constant(client.redirectUris[0]),
          id: fc.constantFrom(...(existing[operationId] ?? [post]), NOBODYS),
          scope: fc.constantFrom('profile.read', 'posts.read posts.write', 'colour.read'),
          parentId: fc.constantFrom(parent.id, null),
        },
        member.token,
      );
  });

  /** Twice, since a kept connection may be closed while it is taken up again (RFC 9112 §9.3.1). */
  const send = ({ path, ...init }: MadeRequest) =>
    app()
      .fetch(path, init)
      .catch(() => app().fetch(path, init));

  /** Sends what is made, and fails on the smallest request whose answer `problem` objects to. */
  async function each(
    made: fc.Arbitrary<MadeRequest>,
    problem: (status: number, body: string) => string | undefined,
  ): Promise<void> {
    await fc.assert(
      fc.asyncProperty(made, async (request) => {
        const answer = await send(request);
        const [status, body] = [answer.status, await answer.text()];
        const found = status >= 500 ? 'a fault of the service' : problem(status, body);
        if (found !== undefined) throw new Error(`${found}: ${status} ${body}`);
      }),
      { seed: SEED, numRuns },
    );
  }

  it.each(named)(
    `C141 ${numRuns} valid requests to %s are never a 400, and never a fault`,
    async (operationId, place) => {
      let taken = 0;
      await each(requestsTo(operationId).valid(place), (status, body) => {
        if (status < 400) taken += 1;
        // Codes and tokens that nobody issued are refused with 400, but not as a malformed request (RFC 6749 §5.2).
        const isRefused = isForm(place) ? body.includes('"invalid_request"') : status === 400;
        return isRefused ? 'a valid request was refused' : undefined;
      });
      if (operationId !== 'token') expect(taken).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it.each(fallible)(
    `C141 ${numRuns} invalid requests to %s are never a success, and never a fault`,
    async (operationId, place) => {
      const made = requestsTo(operationId).invalid(place);
      if (made === null) throw new Error('Nothing can be wrong with it.');
      await each(made, (status) => (status < 300 ? 'an invalid request was taken' : undefined));
    },
    TIMEOUT_MS,
  );
});

async function many<T>(make: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: 30 }, make));
}
