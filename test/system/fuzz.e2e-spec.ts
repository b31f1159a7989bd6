import * as fc from 'fast-check';
import { RUNS, SEED } from '../support/arbitraries.js';
import { byExtent } from '../suite.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { operationEntries, publishedDocument } from '../support/published-document.js';
import {
  isForm,
  type GeneratedRequest,
  RequestArbitraries,
} from '../support/request-arbitraries.js';
import { rateLimits, UNLIMITED, useTestApp } from '../support/test-app.js';

/** A valid id that does not exist. */
const UNKNOWN_ID = 'post_01kahq5f3veqdr8bn3tdmx3q0a';
const TIMEOUT_MS = 300_000;
const document = publishedDocument();
const places = operationEntries(document);
const named = places.map((place) => [place.operation.operationId, place] as const);
/** The operations that have parameters, so that a request can be invalid. */
const withParameters = named.filter(([operationId]) => operationId !== 'metadata');

const numRuns = RUNS ?? byExtent(500, 60);

onOneEngine('Requests generated from the published document', (database) => {
  // One app sends thousands of requests, many of them invalid, and must not exceed a limit.
  const app = useTestApp(database, {
    QUOTA_DEFAULT_LIMIT: '1000000',
    ...rateLimits({ 'token-failures': UNLIMITED, 'token-address-failures': UNLIMITED }),
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
          id: fc.constantFrom(...(existing[operationId] ?? [post]), UNKNOWN_ID),
          scope: fc.constantFrom('profile.read', 'posts.read posts.write', 'colour.read'),
          parentId: fc.constantFrom(parent.id, null),
        },
        member.token,
      );
  });

  /** Retries once, since the server may close an idle connection while it is reused (RFC 9112 §9.3.1). */
  const send = ({ path, ...init }: GeneratedRequest) =>
    app()
      .fetch(path, init)
      .catch(() => app().fetch(path, init));

  /** Sends generated requests and fails with the smallest request whose response has a problem. */
  async function checkEach(
    requests: fc.Arbitrary<GeneratedRequest>,
    problem: (status: number, body: string) => string | undefined,
  ): Promise<void> {
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const response = await send(request);
        const [status, body] = [response.status, await response.text()];
        const found = status >= 500 ? 'server error' : problem(status, body);
        if (found !== undefined) throw new Error(`${found}: ${status} ${body}`);
      }),
      { seed: SEED, numRuns },
    );
  }

  it.each(named)(
    `C141 accepts ${numRuns} valid requests to %s: no 400 and no server error`,
    async (operationId, place) => {
      let accepted = 0;
      await checkEach(requestsTo(operationId).valid(place), (status, body) => {
        if (status < 400) accepted += 1;
        // Unknown codes and tokens are rejected with 400, but not as a malformed request (RFC 6749 §5.2).
        // An invalid combination of parameters returns a page with a link to the app.
        const isForApp = /[?;]error=/.test(body);
        const isRejected = isForm(place)
          ? body.includes('"invalid_request"')
          : status === 400 && !isForApp;
        return isRejected ? 'rejected a valid request' : undefined;
      });
      if (operationId !== 'token') expect(accepted).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it.each(withParameters)(
    `C141 rejects ${numRuns} invalid requests to %s: no success and no server error`,
    async (operationId, place) => {
      const requests = requestsTo(operationId).invalid(place);
      if (requests === null) throw new Error('The operation has no invalid requests.');
      await checkEach(requests, (status) =>
        status < 300 ? 'accepted an invalid request' : undefined,
      );
    },
    TIMEOUT_MS,
  );
});

async function many<T>(make: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: 30 }, make));
}
