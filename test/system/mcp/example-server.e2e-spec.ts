import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Client } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { installPackages } from '../../../tools/packages.js';
import { onOneEngine } from '../../support/database.js';
import { useFolder } from '../../support/folder.js';
import type { CommentBody, PageBody, PostBody } from '../../support/member.js';
import { isTokenAccepted } from '../../support/oauth-flow.js';
import { type TestClient, useTestApp } from '../../support/test-app.js';
import { decide, forged } from '../clients/decide.js';
import { callTool, connectAgent, type ServerCommand } from './agent.js';

const FOLDER = resolve('examples/mcp-server');
const TOOLS = [
  'create_comment',
  'create_post',
  'delete_comment',
  'delete_post',
  'get_profile',
  'list_comments',
  'list_posts',
  'sign_in',
  'sign_out',
];
const PLUMS = { content: 'Free plums at the blue gate' };

interface StoredTokens {
  accessToken: string;
  refreshToken: string;
  scopes: string[];
  expiresAt: number;
}

/** Returns a function to lose the response: it is called when the app has responded. */
type See = (request: IncomingMessage) => Promise<void> | (() => void) | undefined;

onOneEngine('Example MCP server', (database) => {
  const app = useTestApp(database);
  const folder = useFolder();
  let client: TestClient;

  beforeAll(async () => {
    await installPackages(FOLDER);
    client = await app().addClient({ kind: 'public', redirectUris: ['http://127.0.0.1/callback'] });
  }, 120_000);

  /** The computer of a member. All servers on it share its home folder. */
  class Computer {
    private readonly home = join(folder, randomUUID());

    constructor(private readonly issuer = app().baseUrl) {}

    private get folder(): string {
      return join(
        this.home,
        '.neighbourhood-mcp',
        encodeURIComponent(this.issuer),
        client.clientId,
      );
    }

    get tokens(): string {
      return join(this.folder, 'tokens.json');
    }

    get lock(): string {
      return join(this.folder, 'lock');
    }

    get server(): ServerCommand {
      const env = { HOME: this.home, ISSUER: this.issuer, CLIENT_ID: client.clientId };
      return { command: process.execPath, args: [join(FOLDER, 'server.js')], env };
    }

    async agent(): Promise<Client> {
      const agent = await connectAgent(this.server);
      onTestFinished(() => agent.close());
      return agent;
    }

    async stored(): Promise<StoredTokens> {
      return JSON.parse(await readFile(this.tokens, 'utf8')) as StoredTokens;
    }

    /** Signs a new user in without the browser. */
    async signIn({ expiresAt = Date.now() + 3_600_000 } = {}): Promise<void> {
      const { accessToken, refreshToken } = await app().issueTokens(await app().addUser(), client);
      await mkdir(this.folder, { recursive: true });
      const tokens = { accessToken, refreshToken, scopes: [], expiresAt };
      await writeFile(this.tokens, JSON.stringify(tokens));
    }
  }

  /** Calls a tool. Returns its result. @throws if it is an error */
  async function use<T>(agent: Client, name: string, args?: Record<string, unknown>): Promise<T> {
    const { text, isError } = await callTool(agent, name, args);
    if (isError) throw new Error(text);
    return JSON.parse(text) as T;
  }

  const linkOf = async (agent: Client): Promise<string> =>
    (await use<{ link: string }>(agent, 'sign_in')).link;

  /** A proxy in front of the app. `see` gets each request before the app. Returns the URL. */
  async function proxy(see: See): Promise<string> {
    const server = createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const { connection: _connection, host: _host, ...rest } = headers;
      const body = await buffer(request);
      const lose = await see(request);
      const init = { method, headers: rest as Record<string, string> };
      const passed = await app().fetch(url, { ...init, ...(method === 'POST' && { body }) });
      const text = await passed.text();
      if (lose) {
        lose();
        return;
      }
      const type = passed.headers.get('content-type') ?? '';
      response.writeHead(passed.status, { 'content-type': type }).end(text);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('offers its tools to both versions of the SDK and of the protocol', async () => {
    const computer = new Computer();
    const current = await connectAgent(computer.server, { versionNegotiation: { mode: 'auto' } });
    onTestFinished(() => current.close());
    const first = new FirstClient({ name: 'agent', version: '1.0.0' });
    onTestFinished(() => first.close());
    await first.connect(new StdioClientTransport(computer.server));
    const clients = [current, await computer.agent(), first];
    const lists = await Promise.all(clients.map((agent) => agent.listTools()));
    for (const { tools } of lists) expect(tools.map(({ name }) => name).toSorted()).toEqual(TOOLS);
    expect(clients.map((agent) => agent.getServerVersion()?.name)).toEqual(
      clients.map(() => 'neighbourhood'),
    );
  });

  it('signs in in the browser, and stores the tokens for this user of the computer only', async () => {
    const computer = new Computer();
    const agent = await computer.agent();
    expect(await callTool(agent, 'create_post', PLUMS)).toEqual({
      text: expect.stringContaining('sign_in') as string,
      isError: true,
    });
    const callback = await decide(app(), await linkOf(agent));
    const attack = await fetch(forged(callback, 'state', 'another'));
    expect(attack.status).toBe(404);
    const response = await fetch(callback);
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('You are signed in.'),
    ]);
    expect(await use(agent, 'get_profile')).toMatchObject({ name: 'Ana Lee' });
    expect(((await stat(computer.tokens)).mode & 0o777).toString(8)).toBe('600');
    expect(((await stat(join(computer.tokens, '..'))).mode & 0o777).toString(8)).toBe('700');
    const other = await computer.agent();
    expect(await use(other, 'get_profile')).toMatchObject({ name: 'Ana Lee' });
    await expect(fetch(callback)).rejects.toThrow('fetch failed');
  });

  it('stays signed out if the member declines', async () => {
    const agent = await new Computer().agent();
    const callback = await decide(app(), await linkOf(agent), { decision: 'deny' });
    const response = await fetch(callback);
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('access_denied'),
    ]);
    expect((await callTool(agent, 'get_profile')).text).toContain('Not signed in');
  });

  it('publishes, comments, pages and deletes', async () => {
    const computer = new Computer();
    await computer.signIn();
    const agent = await computer.agent();
    const { id } = await use<PostBody>(agent, 'create_post', { ...PLUMS, tags: ['plums'] });
    const { id: second } = await use<PostBody>(agent, 'create_post', { title: 'Ladder to lend' });
    const page = await use<PageBody<PostBody>>(agent, 'list_posts', { limit: 1 });
    const before = page.data[0]?.id;
    const next = await use<PageBody<PostBody>>(agent, 'list_posts', { limit: 1, before });
    const ids = [page, next].flatMap(({ data }) => data.map((post) => post.id));
    expect(ids.toSorted()).toEqual([id, second].toSorted());
    const comment = { id, text: 'Are they ripe?' };
    const { id: parentId } = await use<CommentBody>(agent, 'create_comment', comment);
    const reply = await use<CommentBody>(agent, 'create_comment', { id, text: 'Yes', parentId });
    const { data } = await use<PageBody<CommentBody>>(agent, 'list_comments', { id });
    expect(new Map(data.map((one) => [one.id, one.parentId]))).toEqual(
      new Map([
        [parentId, null],
        [reply.id, parentId],
      ]),
    );
    await use(agent, 'delete_comment', { id: reply.id });
    await use(agent, 'delete_post', { id });
    expect(await callTool(agent, 'create_comment', comment)).toEqual({
      text: expect.stringMatching(/^not_found: .*\(req_\w+\)$/) as string,
      isError: true,
    });
    const { text } = await callTool(agent, 'create_post', { title: 'Two\nlines' });
    expect(text).toMatch(/^\w+: .*\ntitle: /);
  });

  it('sends the same key after a lost response, also by the next process, and then a new one', async () => {
    const keys: unknown[] = [];
    let onLost = (): void => undefined;
    const url = await proxy(({ method, headers }) => {
      if (method !== 'POST') return undefined;
      keys.push(headers['idempotency-key']);
      return keys.length <= 2 ? () => onLost() : undefined;
    });
    const computer = new Computer(url);
    await computer.signIn();
    const giveUp = async (agent: Client): Promise<void> => {
      const controller = new AbortController();
      const lost = new Promise<void>((done) => {
        onLost = done;
      });
      const call = callTool(agent, 'create_post', PLUMS, controller.signal);
      await lost;
      controller.abort();
      await expect(call).rejects.toThrow();
    };
    const agent = await computer.agent();
    await giveUp(agent);
    await giveUp(agent);
    await agent.close();
    const restarted = await computer.agent();
    const { id } = await use<PostBody>(restarted, 'create_post', PLUMS);
    const again = await use<PostBody>(restarted, 'create_post', PLUMS);
    expect(keys).toHaveLength(4);
    expect(new Set(keys.slice(0, 3)).size).toBe(1);
    expect(keys[3]).not.toBe(keys[2]);
    const { data } = await use<PageBody<PostBody>>(restarted, 'list_posts');
    expect(data.map((post) => post.id).toSorted()).toEqual([id, again.id].toSorted());
  });

  it('stores rotated tokens before it uses them, once for all its processes', async () => {
    const seen: { url?: string; authorization?: string; stored: StoredTokens }[] = [];
    const url = await proxy(async ({ url: path, headers: { authorization } }) => {
      seen.push({ url: path, authorization, stored: await computer.stored() });
    });
    const computer = new Computer(url);
    await computer.signIn({ expiresAt: 0 });
    const { refreshToken } = await computer.stored();
    const agents = await Promise.all([computer.agent(), computer.agent()]);
    await Promise.all(agents.map((agent) => use(agent, 'get_profile')));
    const [refresh, ...calls] = seen;
    expect(refresh?.url).toBe('/oauth/token');
    expect(calls.map((call) => call.url)).toEqual(['/dev/v1/me', '/dev/v1/me']);
    for (const { authorization, stored } of calls) {
      expect(authorization).toBe(`Bearer ${stored.accessToken}`);
      expect(stored.refreshToken).not.toBe(refreshToken);
    }
    expect(((await stat(computer.tokens)).mode & 0o777).toString(8)).toBe('600');
  });

  it('takes the lock of a process that was killed', async () => {
    const computer = new Computer();
    await computer.signIn({ expiresAt: 0 });
    await mkdir(computer.lock);
    const owner = join(computer.lock, 'killed');
    await writeFile(owner, '');
    await utimes(owner, new Date(0), new Date(0));
    await use(await computer.agent(), 'get_profile');
    await expect(stat(computer.lock)).rejects.toThrow('ENOENT');
  });

  it('never removes the lock of another process, also if it has lost its own', async () => {
    const other = (): string => join(computer.lock, 'other');
    const url = await proxy(async ({ url: path }) => {
      if (path !== '/oauth/token') return;
      // As if this process had been suspended for minutes, and another one had taken its lock.
      await rm(computer.lock, { recursive: true });
      await mkdir(computer.lock);
      await writeFile(other(), '');
    });
    const computer = new Computer(url);
    await computer.signIn({ expiresAt: 0 });
    await use(await computer.agent(), 'get_profile');
    expect((await stat(other())).size).toBe(0);
  });

  it('gives a stale lock to one of many processes at a time', async () => {
    let refreshes = 0;
    const url = await proxy(async ({ url: path }) => {
      if (path === '/oauth/token') refreshes += 1;
    });
    const computer = new Computer(url);
    await computer.signIn({ expiresAt: 0 });
    await mkdir(computer.lock);
    const owner = join(computer.lock, 'killed');
    await writeFile(owner, '');
    await utimes(owner, new Date(0), new Date(0));
    const agents = await Promise.all(Array.from({ length: 6 }, () => computer.agent()));
    await Promise.all(agents.map((agent) => use(agent, 'get_profile')));
    expect(refreshes).toBe(1);
  });

  it('revokes the access and deletes the tokens when the member signs out', async () => {
    const computer = new Computer();
    await computer.signIn();
    const { accessToken } = await computer.stored();
    const agent = await computer.agent();
    expect(await isTokenAccepted(app(), accessToken)).toBe(true);
    await use(agent, 'sign_out');
    expect(await isTokenAccepted(app(), accessToken)).toBe(false);
    await expect(stat(computer.tokens)).rejects.toThrow('ENOENT');
  });
});
