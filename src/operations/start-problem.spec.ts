import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createServer } from 'node:net';
import { startProblem } from './start-problem.js';

/** Of nobody (RFC 5737 §3). */
const NOT_OURS = '192.0.2.1';

describe('Why a program did not start', () => {
  it('names the address that it cannot listen on, and no database', async () => {
    const server = createServer().listen(0, NOT_OURS);
    const error: unknown = await once(server, 'listening').catch((failure: unknown) => failure);
    expect(startProblem(error)).toMatch(/^The service cannot listen there: .*192\.0\.2\.1.*HOST/);
  });

  it('tells of a file with the stack, and of no database', async () => {
    const error = await open('/nowhere/at/all').catch((failure: unknown) => failure);
    const busy = Object.assign(error as Error, { code: 'EMFILE' });
    expect(startProblem(busy)).toBe(busy.stack);
  });
});
