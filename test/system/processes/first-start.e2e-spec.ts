import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { LANGUAGES } from '../../../src/pages/language.js';
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

  it.each<Record<string, string>>([
    { NODE_ENV: 'development', PUBLIC_URL: 'https://platform.example' },
    { PUBLIC_URL: 'http://platform.lan' },
  ])('warns once with %j that this is not for production', async (env) => {
    const service = await startProcess({ url, env });
    await expect.poll(() => service.output()).toMatch(/^ {2}Client secret /m);
    // The two streams of the process can arrive in any order.
    const warnings = (): RegExpMatchArray | null =>
      service.output().match(/NOT FOR PRODUCTION: .* a public pepper/g);
    await expect.poll(warnings).toHaveLength(1);
    expect(await service.stop()).toBe(0);
  });

  it('says how many segments a message has if its name costs extra, and by which character', async () => {
    const service = await startProcess({ url, env: { NETWORK_NAME: 'Vecinos de León' } });
    await expect
      .poll(() => service.output())
      .toContain(
        `${LANGUAGES.map((tag) => `2 segments (${tag})`).join(', ')}, because the alphabet of text messages (GSM 03.38) lacks ó (U+00F3). NETWORK_NAME='Vecinos de Leon'`,
      );
    expect(await service.stop()).toBe(0);
  });

  it('is refused without NODE_ENV on a PUBLIC_URL with https', async () => {
    const env = { PUBLIC_URL: 'https://platform.example' };
    await expect(startProcess({ url, env })).rejects.toThrow('NODE_ENV: must be set');
  });

  it('is refused if Node.js and shells read one of its variables differently, and warns of others', async () => {
    const file = `${url.slice('sqlite:'.length)}.env`;
    const nodeOptions = [`--env-file=${file}`];
    await writeFile(file, 'NETWORK_COLOR=#0d5c4d\n');
    await expect(startProcess({ url, nodeOptions })).rejects.toThrow(
      `NETWORK_COLOR: Node.js and shells read different values from line 1 of ${file}`,
    );
    await writeFile(file, "NETWORK_COLOR='#0d5c4d'\nOTHER=x#y\n");
    const service = await startProcess({ url, nodeOptions });
    expect(service.output().match(/OTHER: Node.js and shells read/g)).toHaveLength(1);
    expect(service.output()).not.toContain('x#y');
    expect(await service.stop()).toBe(0);
  });

  it('is refused in production on the database of the demo, until its apps are disabled, and then logs only JSON lines', async () => {
    const env = {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://platform.example',
      OTP_PEPPER: 'a pepper of at least 32 characters',
      SMS_SENDER: 'webhook',
      SMS_WEBHOOK_URL: 'https://sms.example',
      SMS_WEBHOOK_SECRET: 'a secret of 16 bytes or more',
      SHUTDOWN_DELAY_MS: '0',
      DEMO: '0',
    };
    await expect(startProcess({ url, env })).rejects.toThrow('the database has enabled demo apps');
    const cli = new CommandLine({ url });
    for (const app of await cli.json<{ client_id: string }[]>('app', 'list'))
      await cli.json('app', 'disable', app.client_id, '--yes');
    const service = await startProcess({ url, env });
    await fetch(`${service.baseUrl}/dev/v1/me`);
    expect(await service.stop()).toBe(0);
    const lines = service.output().trimEnd().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries).toContainEqual(
      expect.objectContaining({ context: 'Start', msg: 'Serving https://platform.example' }),
    );
    expect(entries).toContainEqual(expect.objectContaining({ route: '/dev/v1/me', status: 401 }));
  });
});
