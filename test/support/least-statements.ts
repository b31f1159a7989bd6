import { CallLog } from '../../src/modules/quota/call-log.service.js';
import type { TestApp } from './test-app.js';

const RUNS = 3;

/** What `work` costs by itself: of three runs the cheapest, since what the service writes beside requests may fall into one. */
export async function leastStatements(
  app: TestApp,
  work: () => Promise<unknown>,
): Promise<string[]> {
  let least: string[] | undefined;
  for (let run = 0; run < RUNS; run += 1) {
    await app.service(CallLog).flush();
    const statements = await app.statementsOf(work);
    if (!least || statements.length < least.length) least = statements;
  }
  return least ?? [];
}
