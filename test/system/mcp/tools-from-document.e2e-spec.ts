import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@modelcontextprotocol/client';
import { onOneEngine } from '../../support/database.js';
import { useFolder } from '../../support/folder.js';
import { Member, type PageBody, type PostBody } from '../../support/member.js';
import {
  type Operation,
  operationEntries,
  publishedDocument,
} from '../../support/published-document.js';
import { type TestApp, useTestApp } from '../../support/test-app.js';
import { type Called, callTool, connectAgent, type ServerCommand } from './agent.js';

const PACKAGES = resolve('test/system/node_modules');
const MISSING_POST = 'post_01kahq5f3veqdr8bn3tdmx3q0a';

/** A program that makes MCP tools from the document. */
interface Bridge {
  name: string;
  /** Whether it also offers the operations of the tag `oauth`. */
  hasOAuth: boolean;
  /** The command of a server that calls the app with this token. */
  server(app: TestApp, token: string, folder: string): Promise<ServerCommand>;
  toolOf(operationId: string): string;
  /** The arguments of a call. */
  arguments(parameters: object, body?: object): Record<string, unknown>;
  /** The JSON of the API in a result. */
  json(called: Called): unknown;
}

const run = promisify(execFile);

const ivotoby = (name: string, parameters: string[]): Bridge => ({
  name: `@ivotoby/openapi-mcp-server ${name}`,
  hasOAuth: parameters.length === 0,
  async server({ baseUrl }, token) {
    return {
      command: process.execPath,
      args: [join(PACKAGES, '@ivotoby/openapi-mcp-server/bin/mcp-server.js'), ...parameters],
      env: {
        API_BASE_URL: baseUrl,
        OPENAPI_SPEC_PATH: `${baseUrl}/openapi.json`,
        API_HEADERS: `Authorization:Bearer ${token}`,
        DISABLE_ABBREVIATION: 'true',
      },
    };
  },
  toolOf: (operationId) => operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  arguments: (named, body) => ({ ...named, ...body }),
  json: ({ text }) => JSON.parse(text) as unknown,
});

const generator: Bridge = {
  name: 'openapi-mcp-generator',
  hasOAuth: true,
  async server({ baseUrl }, token, folder) {
    const project = join(folder, 'generated');
    const options = [
      '--input',
      `${baseUrl}/openapi.json`,
      '--output',
      project,
      '--base-url',
      baseUrl,
    ];
    await run(join(PACKAGES, '.bin/openapi-mcp-generator'), options);
    await symlink(PACKAGES, join(project, 'node_modules'));
    // The project asks for TypeScript 5, which needs neither option.
    const forTypeScript6 = ['--types', 'node', '--rootDir', join(project, 'src')];
    await run('npx', ['tsc', '-p', project, ...forTypeScript6]);
    return {
      command: process.execPath,
      args: [join(project, 'build/index.js')],
      env: { OAUTH_TOKEN_OAUTH2: token },
    };
  },
  toolOf: (operationId) => operationId,
  arguments: (parameters, body) => ({ ...parameters, ...(body && { requestBody: body }) }),
  json: ({ text }) => JSON.parse(text.replace(/^API Response \(Status: \d+\):\n/, '')) as unknown,
};

const BRIDGES = [
  ivotoby('with the whole document', []),
  ivotoby('without the tag oauth', ['--exclude-tag', 'oauth']),
  generator,
];

onOneEngine('MCP tools from the document', (database) => {
  const app = useTestApp(database);
  const folder = useFolder();

  describe.each(BRIDGES)('by $name', (bridge) => {
    let member: Member;
    let agent: Client;

    beforeAll(async () => {
      member = await Member.join(app(), { user: await app().addUser({ name: 'Ana Lee' }) });
      agent = await connectAgent(await bridge.server(app(), member.token, folder));
    }, 120_000);
    afterAll(() => agent?.close());

    const call = (operationId: string, parameters: object = {}, body?: object): Promise<Called> =>
      callTool(agent, bridge.toolOf(operationId), bridge.arguments(parameters, body));

    it('C144 have each operation, and descriptions that begin with what it does', async () => {
      const { tools } = await agent.listTools();
      const described = operationEntries(publishedDocument())
        .map(({ operation }) => operation)
        .filter(({ tags }) => bridge.hasOAuth || !tags?.includes('oauth'));
      const expected = described.map(({ operationId, summary }: Operation) => [
        bridge.toolOf(operationId),
        summary,
      ]);
      const summaries = new Map(expected as [string, string][]);
      const listed = tools.map(({ name, description = '' }) => [
        name,
        description.slice(0, summaries.get(name)?.length),
      ]);
      expect(listed.toSorted()).toEqual(expected.toSorted());
    });

    it('C144 read the profile', async () => {
      expect(bridge.json(await call('getMe'))).toMatchObject({
        id: member.user.id,
        name: 'Ana Lee',
      });
    });

    it('C144 publish once with an Idempotency-Key, and page by the id of the last item', async () => {
      const key = { 'Idempotency-Key': 'c2f7a1de-5f1c-4b44-9d0e-7a4f6f0f2b11' };
      const publish = async (content: string, parameters = {}) =>
        (bridge.json(await call('createPost', parameters, { content })) as PostBody).id;
      const first = await publish('Plums', key);
      expect(await publish('Plums', key)).toBe(first);
      const second = await publish('Ladder');
      const list = async (parameters: object) =>
        bridge.json(await call('listPosts', parameters)) as PageBody<PostBody>;
      const page = await list({ limit: 1 });
      expect(page.meta.total).toBe(2);
      const next = await list({ limit: 1, before: page.data[0]?.id });
      const ids = [page, next].flatMap(({ data }) => data.map(({ id }) => id));
      expect(ids.toSorted()).toEqual([first, second].toSorted());
      expect((await list({ limit: 1, before: next.data[0]?.id })).data).toEqual([]);
    });

    it('C144 show the code of an error', async () => {
      const { text } = await call('getPost', { id: MISSING_POST });
      expect(text).toContain('404');
      expect(text).toContain('"not_found"');
    });
  });
});
