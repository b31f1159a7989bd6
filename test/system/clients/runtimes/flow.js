// @ts-nocheck -- The package is installed only beside a copy of this program.
/* oxlint-disable no-console -- The test reads the result from standard output. */
/* Runs the TypeScript client against a service, and prints what it saw as one line of JSON. Uses nothing of a particular runtime. */
import {
  allowAsTestMember,
  createClient,
  disconnect,
  finishAuthorization,
  memoryStore,
  startAuthorization,
  verifyWebhook,
} from 'neighbourhood-devplatform-client';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, PHONE, CODE, EVENT, WEBHOOK_SECRET } =
  globalThis.process.env;
const SCOPE = 'profile.read posts.read posts.write analytics.read';

let tokenRequests = 0;
const settings = {
  issuer: ISSUER,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  redirectUri: REDIRECT_URI,
  onResponse: ({ url }) => {
    if (url.endsWith('/oauth/token')) tokenRequests += 1;
  },
};

/** A `fetch` whose first request asks for a fault of the test mode, with the `Idempotency-Key` of each request. */
function withFault(fault) {
  const keys = [];
  const send = (url, init) => {
    keys.push(init.headers.get('idempotency-key'));
    const headers = new Headers(init.headers);
    if (keys.length === 1) headers.set('test-fault', fault);
    return fetch(url, { ...init, headers });
  };
  return { keys, fetch: send };
}

const errorOf = (promise) =>
  promise.then(
    () => 'no error',
    (error) => [
      error.name,
      error.code ?? error.parameter ?? error.header ?? null,
      error.errors?.[0]?.field ?? null,
    ],
  );

const { url, pending } = await startAuthorization(settings, { scope: SCOPE });
const callback = await allowAsTestMember(url, { phone: PHONE, code: CODE });
const forged = new URL(callback);
forged.searchParams.set('state', 'other');
const forgedState = await errorOf(finishAuthorization(settings, forged.href, pending));
const tokens = await finishAuthorization(settings, callback, pending);
const codeAgain = await errorOf(
  finishAuthorization({ ...settings, redirectUri: `${REDIRECT_URI}/x` }, callback, pending),
);

// The code was used again with another redirect URI, which may have ended the access: authorize once more.
const second = await startAuthorization(settings, { scope: SCOPE });
const store = memoryStore(
  await finishAuthorization(
    settings,
    await allowAsTestMember(second.url, { phone: PHONE, code: CODE }),
    second.pending,
  ),
);
const client = createClient(settings, store);

const { name } = await client.getMe();
const content = 'Plums to give away';
const idempotencyKey = globalThis.crypto.randomUUID();
const post = await client.createPost({ body: { content } }, { idempotencyKey });
const repeated = await client.createPost({ body: { content } }, { idempotencyKey });
const otherBody = await errorOf(client.createPost({ body: { content: 'x' } }, { idempotencyKey }));

const lost = withFault('lost_response');
const unreliable = createClient({ ...settings, fetch: lost.fetch }, store);
const retried = await unreliable.createPost({ body: { content: 'Ladder to lend' } });
const unavailable = withFault('service_unavailable');
const afterUnavailable = createClient({ ...settings, fetch: unavailable.fetch }, store);
await afterUnavailable.getQuota();

const comment = await client.createComment({ id: post.id, body: { text: 'Thanks' } });
const listed = [];
for await (const { id } of client.listPosts({ limit: 1 })) listed.push(id);
const analytics = await client.getPostAnalytics({ id: post.id });
const { used } = await client.getQuota();

const before = await store.get();
await store.set({ ...before, expiresAt: 0 });
const requestsBefore = tokenRequests;
await Promise.all(Array.from({ length: 10 }, () => client.getMe()));
const refreshed = await store.get();

const notFound = await errorOf(client.getPost({ id: 'post_00000000000000000000000009' }));
const invalid = await errorOf(client.createPost({ body: { content: '' } }));
const aborted = await errorOf(client.getMe(undefined, { signal: AbortSignal.abort() }));
const slow = createClient(
  { ...settings, maxRetries: 0, fetch: withFault('slow=2000').fetch },
  store,
);
const timedOut = await errorOf(slow.getMe(undefined, { timeoutMs: 100 }));
const unreachable = createClient(
  { ...settings, issuer: 'http://127.0.0.1:9', maxRetries: 0 },
  store,
);
const refused = await errorOf(unreachable.getMe());

await client.deleteComment({ id: comment.id });
for (const id of [post.id, retried.id]) await client.deletePost({ id });
const deleted = await errorOf(client.getPost({ id: post.id }));
await disconnect(settings, store);
const disconnected = await errorOf(client.getMe());

const { id, timestamp, signature, body } = JSON.parse(EVENT);
const headers = {
  'webhook-id': id,
  'webhook-timestamp': timestamp,
  'webhook-signature': signature,
};
const event = await verifyWebhook(body, headers, WEBHOOK_SECRET);
const forgedEvent = await errorOf(verifyWebhook(`${body} `, new Headers(headers), WEBHOOK_SECRET));

console.log(
  JSON.stringify({
    scopes: tokens.scopes,
    forgedState,
    codeAgain,
    name,
    isSamePost: repeated.id === post.id,
    otherBody,
    lostResponse: { requests: lost.keys.length, keys: new Set(lost.keys).size },
    unavailable: { requests: unavailable.keys.length },
    hasListed: [listed.includes(post.id), listed.includes(retried.id)],
    hasAnalytics: Object.keys(analytics).length > 0,
    used,
    refreshes: tokenRequests - requestsBefore,
    hasNewTokens: [
      refreshed.accessToken !== before.accessToken,
      refreshed.refreshToken !== before.refreshToken,
    ],
    notFound,
    invalid,
    aborted,
    timedOut,
    refused,
    deleted,
    disconnected,
    event: event.type,
    forgedEvent,
  }),
);
