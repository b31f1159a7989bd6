import { readdirSync } from 'node:fs';
import ts from 'typescript';
import { onSqlite } from '../support/database.js';
import { isInstalled, runSample, SAMPLE_LANGUAGES, samplesOf } from '../support/guide-samples.js';
import { Member, type PageBody, type PostBody } from '../support/member.js';
import { approve } from '../support/oauth-flow.js';
import { json } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

/** The pages whose examples are in every language. */
const PAGES = ['get-started', 'tokens', 'calling-the-api', 'posting-safely', 'lists', 'errors'];

describe('Examples of the guide', () => {
  it.each(PAGES)('of %s are in every language, in the order of the tabs', async (page) => {
    const languages = (await samplesOf(page)).map(({ language }) => language);
    expect(languages.slice(0, SAMPLE_LANGUAGES.length)).toEqual(SAMPLE_LANGUAGES);
  });

  it('are all run by this test, event-samples, or test/system/docs/test-your-integration', async () => {
    const files = readdirSync('docs/guide').map((file) => file.replace(/\.md$/, ''));
    const tested = [...PAGES, 'events', 'test-your-integration'];
    for (const page of files.filter((name) => !tested.includes(name)))
      expect({ page, samples: await samplesOf(page) }).toEqual({ page, samples: [] });
  });

  it('in TypeScript have no type errors', async () => {
    const samples = await Promise.all([...PAGES, 'events'].map(samplesOf));
    const sources = new Map(
      samples
        .flat()
        .filter(({ language }) => language === 'ts')
        .map(({ code }, index) => [`${process.cwd()}/sample-${index}.ts`, `${code}\nexport {};\n`]),
    );
    const options: ts.CompilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      noUnusedLocals: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      types: ['node'],
      paths: {
        'neighbourhood-devplatform-client': [`${process.cwd()}/clients/typescript/src/index.ts`],
      },
    };
    const host = ts.createCompilerHost(options);
    const fileExists = host.fileExists.bind(host);
    const readFile = host.readFile.bind(host);
    host.fileExists = (file) => sources.has(file) || fileExists(file);
    host.readFile = (file) => sources.get(file) ?? readFile(file);
    const getSourceFile = host.getSourceFile.bind(host);
    host.getSourceFile = (file, target) => {
      const text = sources.get(file);
      return text === undefined
        ? getSourceFile(file, target)
        : ts.createSourceFile(file, text, target);
    };
    const program = ts.createProgram([...sources.keys()], options, host);
    const problems = ts.getPreEmitDiagnostics(program);
    expect(ts.formatDiagnostics(problems, host)).toBe('');
  });
});

onSqlite('Examples of the guide', (database) => {
  const app = useTestApp(database);
  let member: Member;
  let client: TestClient;
  let env: Record<string, string>;

  beforeEach(async () => {
    client = await app().addClient();
    const user = await app().addUser({ name: 'Ana Lee' });
    member = await Member.join(app(), { client, user });
    const { refreshToken } = await app().issueTokens(user, client);
    env = {
      ISSUER: app().baseUrl,
      CLIENT_ID: client.clientId,
      CLIENT_SECRET: client.secret ?? '',
      REDIRECT_URI: client.redirectUris[0] ?? '',
      ACCESS_TOKEN: member.token,
      REFRESH_TOKEN: refreshToken,
    };
  });

  /** Opens the link that a program printed, allows access, and returns the address of the redirect. */
  function allow(printed: string): Promise<string> | undefined {
    const link = /^Open (\S+)\n/.exec(printed)?.[1];
    if (link === undefined) return undefined;
    const parameters = Object.fromEntries(new URL(link).searchParams);
    return approve(app(), member.user, client, parameters).then(
      (response) => `${client.redirectUris[0]}?${response}`,
    );
  }

  // The first program in Go compiles the standard library.
  describe.each(SAMPLE_LANGUAGES)('in %s', { timeout: 120_000 }, async (language) => {
    const installed = await isInstalled(language);
    const run = async (page: string, answer?: typeof allow): Promise<string> => {
      const sample = (await samplesOf(page)).find((one) => one.language === language);
      if (!sample) throw new Error(`${page} has no example in ${language}.`);
      return runSample(sample, env, answer);
    };

    it.runIf(installed)('authorize, exchange the code and call the API', async () => {
      expect(await run('get-started', allow)).toContain('Ana Lee');
    });

    it.runIf(installed)('reject the response to another request', async () => {
      const other = (printed: string): Promise<string> | undefined =>
        allow(printed)?.then((address) => address.replace(/state=/, 'state=x'));
      await expect(run('get-started', other)).rejects.toThrow('belongs to another request');
    });

    it.runIf(installed)('refresh', async () => {
      const printed = await run('tokens');
      const [, token = ''] = /"access_token":"([^"]+)"/.exec(printed) ?? [];
      expect(printed).toContain('"refresh_token"');
      expect((await app().call(token, 'GET', '/me')).status).toBe(200);
    });

    it.runIf(installed)('poll with an ETag', async () => {
      const printed = await run('calling-the-api');
      expect(printed).toContain('Ana Lee');
      expect(printed.trimEnd()).toMatch(/304$/);
    });

    it.runIf(installed)('publish', async () => {
      expect(await run('posting-safely')).toContain('Free plums at the blue gate');
      const { data } = await json<PageBody<PostBody>>(await member.get('/posts'));
      expect(data).toHaveLength(1);
    });

    it.runIf(installed)('read a whole list', async () => {
      const ids: string[] = [];
      for (let count = 0; count < 51; count += 1) ids.push((await member.publish()).id);
      const printed = await run('lists');
      expect([...new Set(printed.match(/post_\w{26}/g))]).toEqual(ids.toSorted().toReversed());
    });

    it.runIf(installed)('print an error with its fields', async () => {
      const printed = await run('errors');
      for (const text of ['invalid_request', 'latitude', 'too_large', 'req_'])
        expect(printed).toContain(text);
    });
  });

  it('revoke in sh, the only language with this example', async () => {
    const [, sample] = (await samplesOf('tokens')).filter(({ language }) => language === 'sh');
    if (!sample) throw new Error('The page has no second example in sh.');
    await runSample(sample, env);
    const { status } = await app().fetch('/oauth/token', {
      method: 'POST',
      body: new URLSearchParams({
        client_id: client.clientId,
        client_secret: client.secret ?? '',
        grant_type: 'refresh_token',
        refresh_token: env.REFRESH_TOKEN ?? '',
      }),
    });
    expect(status).toBe(400);
  });
});
