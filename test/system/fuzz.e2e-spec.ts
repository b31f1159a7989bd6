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
import { flushDeferredWrites, rateLimits, UNLIMITED, useTestApp } from '../support/test-app.js';

/** A valid post id that does not exist. */
const UNKNOWN_ID = 'post_01kahq5f3veqdr8bn3tdmx3q0a';
const TIMEOUT_MS = 300_000;
const document = publishedDocument();
/** Every operation with its operationId, which the test titles show. */
const entries = operationEntries(document).map(
  (entry) => [entry.operation.operationId, entry] as const,
);
/** All operations but the metadata, which need no token and have no constrained parameter. */
const canBeInvalid = entries.filter(
  ([operationId]) => !['metadata', 'resourceMetadata'].includes(operationId),
);

const numRuns = RUNS ?? byExtent({ whole: 500, quick: 60 });

onOneEngine('Requests generated from the published document', (database) => {
  // One app sends thousands of requests, many of them invalid: neither the quota nor a rate limit must reject any.
  const app = useTestApp(database, {
    QUOTA_DEFAULT_LIMIT: '1000000',
    ...rateLimits({ 'token-failures': UNLIMITED, 'token-address-failures': UNLIMITED }),
  });
  let member: Member;
  let requestsTo: (operationId: string) => RequestArbitraries;

  beforeAll(async () => {
    member = await Member.join(app());
    const { client } = member;
    const [post = '', ...deletablePosts] = await thirtyTimes(
      async () => (await member.publish()).id,
    );
    const deletableComments = await thirtyTimes(async () => (await member.comment(post)).id);
    const request = (await member.get('/me')).headers.get('x-request-id') ?? '';
    await flushDeferredWrites(app());
    const ids: Record<string, string[]> = {
      deletePost: deletablePosts,
      deleteComment: deletableComments,
      getRequest: [request],
    };
    const parent = await member.comment(post);
    requestsTo = (operationId) =>
      new RequestArbitraries(
        document,
        {
          client_id: fc.constant(client.clientId),
          client_secret: fc.constant(client.secret),
          redirect_uri: fc.constant(client.redirectUris[0]),
          id: fc.constantFrom(...(ids[operationId] ?? [post]), UNKNOWN_ID),
          // At most 4,096 bytes.
          state: fc.oneof(
            fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
            fc.constantFrom('a'.repeat(4096), 'ä'.repeat(2048), '\u{1f600}'.repeat(1024)),
          ),
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

  /** Sends generated requests. Fails with the smallest request that causes a server error or for which `problem` returns a text. */
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

  it.each(entries)(
    `C141 rejects none of ${numRuns} valid requests to %s as malformed, and has no server error`,
    async (operationId, entry) => {
      let accepted = 0;
      await checkEach(requestsTo(operationId).valid(entry), (status, body) => {
        if (status < 400) accepted += 1;
        // A form with an unknown code or token returns 400, but not `invalid_request` (RFC 6749 §5.2).
        if (isForm(entry))
          return body.includes('"invalid_request"') ? 'rejected a valid form' : undefined;
        // An authorization request with an invalid combination of parameters returns a page with 400 that links to the app.
        const returnsErrorToApp = /(\?|&amp;)error=/.test(body);
        return status === 400 && !returnsErrorToApp ? 'rejected a valid request' : undefined;
      });
      // The generated codes and refresh tokens do not exist, so the token endpoint accepts no request.
      if (operationId !== 'token') expect(accepted).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it.each(canBeInvalid)(
    `C141 accepts none of ${numRuns} invalid requests to %s, and has no server error`,
    async (operationId, entry) => {
      const requests = requestsTo(operationId).invalid(entry);
      if (requests === null) throw new Error('The operation has no invalid requests.');
      await checkEach(requests, (status) =>
        status < 300 ? 'accepted an invalid request' : undefined,
      );
    },
    TIMEOUT_MS,
  );
});

async function thirtyTimes<T>(make: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: 30 }, make));
}
