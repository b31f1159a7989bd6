import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { CommandLine } from '../../support/command-line.js';
import { sqliteFile } from '../../support/database.js';
import { startProcess } from '../../support/service-process.js';

const SECRET = /^ {2}Client secret {2,}svc_sec_\S+$/m;

describe('First start', () => {
  const { url } = sqliteFile();

  it.each(['PORT', 'METRICS_PORT'])('seeds no demo if %s is taken', async (variable) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    try {
      await expect(startProcess({ url, env: { [variable]: String(port) } })).rejects.toThrow(
        `Port ${port} is in use.`,
      );
    } finally {
      other.close();
    }
  });

  it('prints the client secret of the demo, and answers the first request when the demo is complete', async () => {
    // `startProcess` returns after the first response.
    const service = await startProcess({ url });
    const landing = await (await fetch(service.baseUrl)).text();
    expect(landing).toContain('The demo is on');
    await expect.poll(() => service.output()).toMatch(SECRET);
    const file = url.slice('sqlite:'.length);
    for (const path of [file, `${file}-wal`, `${file}-shm`])
      expect([path, (await stat(path)).mode & 0o777]).toEqual([path, 0o600]);
    expect(await service.stop()).toBe(0);
  });

  it('is refused in production on the database of the demo, until its apps are disabled', async () => {
    const env = {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://platform.example',
      OTP_PEPPER: 'a pepper of at least 32 characters',
      SMS_SENDER: 'file',
      DEMO: '0',
    };
    await expect(startProcess({ url, env })).rejects.toThrow('the database has enabled demo apps');
    const cli = new CommandLine({ url });
    for (const app of await cli.json<{ client_id: string }[]>('app', 'list'))
      await cli.json('app', 'disable', app.client_id, '--yes');
    const service = await startProcess({ url, env });
    expect(await service.stop()).toBe(0);
  });
});
