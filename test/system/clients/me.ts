import type { TestApp } from '../../support/test-app.js';

/** The status of `GET /dev/v1/me` with this token. */
export async function statusOfMe(app: TestApp, token: string): Promise<number> {
  return (await app.call(token, 'GET', '/me')).status;
}
