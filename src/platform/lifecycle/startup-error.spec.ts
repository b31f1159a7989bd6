import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createServer } from 'node:net';
import { wrapListenErrors, startupErrorMessage } from './startup-error.js';

describe('startupErrorMessage', () => {
  const unknownHost = Object.assign(new Error('getaddrinfo ENOTFOUND nowhere.invalid'), {
    code: 'ENOTFOUND',
    syscall: 'getaddrinfo',
  });

  it.each([
    // Reserved for documentation (RFC 5737 §3).
    ['192.0.2.1', () => once(createServer().listen(0, '192.0.2.1'), 'listening')],
    ['nowhere.invalid', () => Promise.reject(unknownHost)],
  ])(
    'reports that it cannot listen on %s, and does not mention the database',
    async (host, listen) => {
      const error: unknown = await wrapListenErrors(listen).catch((failure: unknown) => failure);
      expect(startupErrorMessage(error)).toMatch(/^The service cannot listen: .*HOST/);
      expect(startupErrorMessage(error)).toContain(host);
    },
  );

  it('reports a file system error with its stack, and does not mention the database', async () => {
    const error = await open('/nowhere/at/all').catch((failure: unknown) => failure);
    const busy = Object.assign(error as Error, { code: 'EMFILE' });
    expect(startupErrorMessage(busy)).toBe(busy.stack);
  });
});
