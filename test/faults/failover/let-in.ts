import type { TestApp } from '../../support/test-app.js';
import { untilAnswered } from './until-answered.js';

/** The longest until it answers as before. */
const RECOVERY_MS = 5000;

/** Asserts, from when the database is well, that each access token soon opens the API, for whoever comes back when told to. */
export async function expectLetIn(app: TestApp, accessTokens: readonly string[]): Promise<void> {
  const begunAt = performance.now();
  const answers = await Promise.all(
    accessTokens.map((token) => untilAnswered(() => app.call(token, 'GET', '/me'))),
  );
  expect(answers.map(({ status }) => status)).toEqual(accessTokens.map(() => 200));
  expect(performance.now() - begunAt).toBeLessThan(RECOVERY_MS);
}
