import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { useFolder } from '../../support/folder.js';
import { CertificateAuthority } from '../../support/certificates.js';
import { onOneEngine } from '../../support/database.js';
import { freePort } from '../../support/free-port.js';
import { findProgram } from '../../support/programs.js';
import { useTestApp } from '../../support/test-app.js';
import { APACHE_MODULES, apacheConfiguration } from '../../support/web-servers.js';
import { FOLDER, RecipeProcess } from './recipe-process.js';

const RECIPE = resolve(FOLDER, 'apache-mod-auth-openidc.conf');

const apache = existsSync(`${APACHE_MODULES}/mod_auth_openidc.so`)
  ? await findProgram('apache2')
  : undefined;

/** A server configuration around the recipe. */
const configuration = (folder: string, port: number): string =>
  apacheConfiguration(
    folder,
    port,
    'auth_openidc',
    `OIDCOAuthSSLValidateServer Off\nInclude ${RECIPE}`,
  );

onOneEngine('mod_auth_openidc', (database) => {
  const app = useTestApp(database);
  const folder = useFolder();
  let tls: Server;

  /** The module accepts only https: this server forwards its requests to the service. */
  beforeAll(async () => {
    const authority = await CertificateAuthority.create(folder, 'Test');
    const { cert, key } = await authority.sign('server', { names: 'IP:127.0.0.1' });
    const credentials = { cert: await readFile(cert), key: await readFile(key) };
    tls = createServer(credentials, (incoming, outgoing) => {
      const { method, url, headers } = incoming;
      const forwarded = request(new URL(url ?? '/', app().baseUrl), { method, headers });
      forwarded.on('response', (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
      });
      incoming.pipe(forwarded);
    });
    await once(tls.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(async () => {
    tls.closeAllConnections();
    tls.close();
  });

  it('accepts access tokens with the scope, and rejects refresh tokens and revoked ones', async ({
    skip,
  }) => {
    const program = apache ?? skip('The recipe needs apache2 and libapache2-mod-auth-openidc.');
    const port = await freePort();
    await writeFile(join(folder, 'apache.conf'), configuration(folder, port));
    await writeFile(join(folder, 'protected'), 'protected content');
    const client = await app().addClient();
    const user = await app().addUser();
    const { accessToken, refreshToken } = await app().issueTokens(user, client, ['profile.read']);
    const withoutScope = await app().accessToken(user, client, ['posts.write']);
    const server = RecipeProcess.start(
      [program, '-d', folder, '-f', join(folder, 'apache.conf'), '-X'],
      {
        ISSUER: `https://127.0.0.1:${(tls.address() as AddressInfo).port}`,
        CLIENT_ID: client.clientId,
        CLIENT_SECRET: client.secret ?? '',
      },
    );
    const url = `http://127.0.0.1:${port}/protected`;
    const open = (token: string) => fetch(url, { headers: { authorization: `Bearer ${token}` } });
    try {
      await server.listening(url);
      const accepted = await open(accessToken);
      expect([accepted.status, await accepted.text()]).toEqual([200, 'protected content']);
      expect((await open(refreshToken)).status).toBe(401);
      expect((await open(withoutScope)).status).toBe(401);
      await app().fetch('/oauth/revoke', {
        method: 'POST',
        body: new URLSearchParams({
          token: accessToken,
          client_id: client.clientId,
          client_secret: client.secret ?? '',
        }),
      });
      expect((await open(accessToken)).status).toBe(401);
    } finally {
      await server.stop();
    }
  });
});
