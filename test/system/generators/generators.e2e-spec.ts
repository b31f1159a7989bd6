import { installPackages } from '../../../tools/packages.js';
import { byExtent } from '../../suite.js';
import { onOneEngine } from '../../support/database.js';
import { Member } from '../../support/member.js';
import {
  dereferenced,
  type OpenApiDocument,
  operationEntries,
} from '../../support/published-document.js';
import { json } from '../../support/responses.js';
import { useTestApp } from '../../support/test-app.js';
import { examplesOf, validBodies } from './examples.js';
import { type Collection, importDocument, runCollection } from './postman.js';
import { FOLDER, generateAndCompile, GENERATORS, importClient, runProgram } from './generators.js';

/** Downloading the packages takes most of the time. */
const INSTALL_TIMEOUT_MS = 300_000;
/** Starting newman or the converter takes several seconds. */
const PROGRAMS_TIMEOUT_MS = 120_000;

/** A Postman environment. */
interface Environment {
  values: { key: string; value: string }[];
}

const numRuns = byExtent({ whole: 200, quick: 100 });
const VALIDATORS = GENERATORS.flatMap((generator) =>
  generator.validators.map((validator) => ({ ...generator, generator, validator })),
);

onOneEngine('Code generators', (database) => {
  const app = useTestApp(database);
  let document: OpenApiDocument;
  let compileErrors: string[];
  beforeAll(async () => {
    document = await json<OpenApiDocument>(await app().fetch('/openapi.json'));
    await installPackages(FOLDER);
    compileErrors = await generateAndCompile(document);
  }, INSTALL_TIMEOUT_MS);

  it('C144 generate code that compiles in strict TypeScript', () => {
    expect(compileErrors).toEqual([]);
  });

  it('Spectral finds no problem in the document', async () => {
    const options = ['--ruleset=spectral.yaml', '--fail-severity=hint'];
    const output = await runProgram('spectral', 'lint', 'generated/openapi.json', ...options);
    expect(output).toContain('No results');
  });

  it.each(VALIDATORS)(
    'C144 $name generates $validator schemas that accept every example',
    async ({ generator, validator }) => {
      const { [validator]: validators } = (await importClient(generator)).validators;
      const missing = new Set<string>();
      for (const { operationId, part, value } of examplesOf(document)) {
        const validate =
          part === 'body' ? validators?.body(operationId) : validators?.response(operationId, part);
        if (!validate) missing.add(part);
        expect(validate?.(value) ?? [], `${operationId} ${part} ${JSON.stringify(value)}`).toEqual(
          [],
        );
      }
      const isExpected = (part: string): boolean =>
        !generator.validatesErrors && part >= '400' && part < '600';
      expect([...missing].filter((part) => !isExpected(part))).toEqual([]);
    },
  );

  it.each(VALIDATORS)(
    `C144 $name generates $validator schemas that accept ${numRuns} valid bodies of each operation`,
    async ({ generator, validator }) => {
      const { [validator]: validators } = (await importClient(generator)).validators;
      const withBody = operationEntries(dereferenced(document)).filter(
        ({ operation }) => operation.requestBody,
      );
      expect(withBody.map(({ operation }) => operation.operationId).toSorted()).toEqual([
        'createComment',
        'createPost',
        'introspect',
        'revoke',
        'token',
      ]);
      for (const entry of withBody) {
        const validate = validators?.body(entry.operation.operationId);
        for (const body of validBodies(dereferenced(document), entry, numRuns))
          expect(validate?.(body), JSON.stringify(body)).toEqual([]);
      }
    },
  );

  it.each(GENERATORS)('C144 the client of $name calls the service', async (generator) => {
    const { token, user } = await Member.join(app());
    const { run } = await importClient(generator);
    const outcome = await run({ baseUrl: app().baseUrl, token });
    expect(outcome).toEqual({
      user: user.name,
      created: expect.stringMatching(/^post_/),
      listed: [outcome.created],
      unauthorized: 'invalid_token',
      invalidFields: ['content'],
    });
  });

  it(
    'C144 openapi-to-postmanv2 imports requests that newman sends',
    async () => {
      const { token } = await Member.join(app());
      const { item, ...imported } = await importDocument();
      const folders = item.filter(({ name }) => ['users', 'posts'].includes(name));
      // The examples of the document are no posts of this database.
      const withoutIds = folders.map((folder) => ({
        ...folder,
        item: folder.item.filter(({ request }) => !request.url.path.includes(':id')),
      }));
      const collection = { ...imported, item: withoutIds };
      const bearer = [{ key: 'token', value: token }];
      const outcomes = async (auth: Collection['auth']) =>
        runCollection('imported', { ...collection, auth }, { values: [] });
      expect(await outcomes({ type: 'bearer', bearer })).toEqual([
        ['Retrieve the profile of the user who authorized the app', 200],
        ['Publish a post on behalf of the user', 201],
        ["List the user's posts, newest first", 200],
      ]);
      const statuses = (await outcomes({ type: 'noauth' })).map(([, status]) => status);
      expect(statuses).toEqual([401, 401, 401]);
    },
    PROGRAMS_TIMEOUT_MS,
  );

  it(
    'C144 newman runs the published collection with its environment',
    async () => {
      const client = await app().addClient();
      const user = await app().addUser();
      const tokens = await app().issueTokens(user, client);
      const collection = await json<Collection>(await app().fetch('/docs/postman.json'));
      const environment = await json<Environment>(
        await app().fetch('/docs/postman-environment.json'),
      );
      const credentials: Record<string, string | undefined> = {
        clientId: client.clientId,
        clientSecret: client.secret,
        accessToken: tokens.accessToken,
        refreshToken: tokens.refreshToken,
      };
      const values = environment.values.map((variable) => ({
        ...variable,
        value: credentials[variable.key] ?? variable.value,
      }));
      const results = await runCollection('published', collection, { ...environment, values });
      // The authorization endpoint is the only page.
      const operations = operationEntries(document).map(({ operation }) => operation);
      const requests = operations.filter(({ operationId }) => operationId !== 'authorize');
      expect(results.map(([name]) => name).toSorted()).toEqual(
        requests.map(({ summary = '' }) => summary).toSorted(),
      );
      expect(results.filter(([, status = 0]) => status < 200 || status > 299)).toEqual([]);
    },
    PROGRAMS_TIMEOUT_MS,
  );
});
