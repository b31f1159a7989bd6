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

  it.each([
    // Those that test/system/servers/refusals does not provoke.
    [{ code: 'ER_ACCESS_DENIED_NO_PASSWORD_ERROR', errno: 1698 }, /rejected the user or password/],
    [{ code: 'ER_HOST_NOT_PRIVILEGED', errno: 1130 }, /create the user for this address/],
    [{ code: 'ER_HOST_IS_BLOCKED', errno: 1129 }, /FLUSH HOSTS/],
    [{ code: 'ER_CON_COUNT_ERROR', errno: 1040 }, /max_connections/],
    [{ code: 'ER_MUST_CHANGE_PASSWORD_LOGIN', errno: 1862 }, /must change its password/],
    [{ code: 'ER_TABLEACCESS_DENIED_ERROR', errno: 1142 }, /lacks a privilege/],
    [{ code: 'ER_DUP_FIELDNAME', errno: 1060 }, /on a Galera cluster on one node only/],
  ])('reports the refusal %j in one sentence', (fields, remedy) => {
    const message = startupErrorMessage(Object.assign(new Error('Reason'), fields));
    expect(message).toMatch(remedy);
    expect(message).toMatch(/^[^\n]+ \(Reason\)$/);
  });

  it('names the missing option of the permission model of Node.js, and no variable of the address', async () => {
    // Node.js restricts the network from version 25 on.
    const denied = Object.assign(
      new Error('Access to this API has been restricted. Use --allow-net to manage permissions.'),
      { code: 'ERR_ACCESS_DENIED', permission: 'Net', resource: '' },
    );
    const message =
      'The permission model of Node.js denies it: add --allow-net to the options of Node.js, for example in NODE_OPTIONS.';
    const listening: unknown = await wrapListenErrors(() => Promise.reject(denied)).catch(
      (failure: unknown) => failure,
    );
    expect(startupErrorMessage(listening)).toBe(message);
    // As the driver of the database passes it on.
    const { code } = denied;
    const connecting = Object.assign(new Error(`connect ${code} ${denied.message}`), { code });
    expect(startupErrorMessage(connecting)).toBe(message);
  });

  it('reports a file system error with its stack, and does not mention the database', async () => {
    const error = await open('/nowhere/at/all').catch((failure: unknown) => failure);
    const busy = Object.assign(error as Error, { code: 'EMFILE' });
    expect(startupErrorMessage(busy)).toBe(busy.stack);
  });
});
