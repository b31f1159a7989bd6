import { setTimeout as sleep } from 'node:timers/promises';
import type { TestApp } from '../../support/test-app.js';

const MAX_PAUSE_MS = 100;

interface RetryOptions {
  /** Called at each 503. */
  onUnavailable?: () => void;
  /** Whether to stop at a 503. */
  shouldStop?: () => boolean;
}

/** Repeats a request until the response is not 503, or until `shouldStop` returns true. */
export async function retryWhileUnavailable(
  send: () => Promise<Response>,
  { onUnavailable, shouldStop }: RetryOptions = {},
): Promise<Response> {
  for (;;) {
    const response = await send();
    if (response.status !== 503) return response;
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    if (shouldStop?.() === true) return response;
    await response.body?.cancel();
    onUnavailable?.();
    await sleep(MAX_PAUSE_MS * Math.random());
  }
}

const MAX_RECOVERY_MS = 5000;

/** Asserts, once the database has recovered, that the API soon accepts each access token. */
export async function expectTokensAccepted(
  app: TestApp,
  accessTokens: readonly string[],
): Promise<void> {
  const startedAt = performance.now();
  const responses = await Promise.all(
    accessTokens.map((token) => retryWhileUnavailable(() => app.call(token, 'GET', '/me'))),
  );
  expect(responses.map(({ status }) => status)).toEqual(accessTokens.map(() => 200));
  expect(performance.now() - startedAt).toBeLessThan(MAX_RECOVERY_MS);
}
