import { GrantUse } from '../../src/modules/oauth/grants/grant-use.js';
import { CallLog } from '../../src/modules/quota/call-log.service.js';
import type { TestApp } from './test-app.js';

/** Writes now what is noted beside requests and written later: calls, and when grants were used. */
export async function writeNotes(app: TestApp): Promise<void> {
  await app.service(CallLog).flush();
  await app.service(GrantUse).flush();
}
