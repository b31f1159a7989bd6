import { authorizeLink } from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import {
  operationEntries,
  publishedDocument,
  type Schema,
  schemaChecks,
} from '../support/published-document.js';
import { json } from '../support/responses.js';
import { useTestApp } from '../support/test-app.js';

const document = publishedDocument();
const checkOf = schemaChecks(document, { allowUnknown: true });
const isValid = (schema: Schema, value: unknown) => checkOf(schema)(value).length === 0;
const CREATE_POST = document.components.schemas['CreatePost'] ?? {};
const EMOJI = '\u{1f600}';
const image = (path: string) => `https://example.com/${path}`;

function parameter(name: string): Schema {
  const { parameters = [] } = document.paths['/oauth/authorize']?.['get'] ?? {};
  const found = parameters.find((one) => one.name === name);
  if (!found) throw new Error(`The authorization endpoint has no ${name}.`);
  return found.schema;
}

onOneEngine('Inputs of the OpenAPI document', (database) => {
  const app = useTestApp(database);
  let member: Member;
  beforeAll(async () => {
    member = await Member.join(app());
  });

  // `https://example.com/` has 20 characters, and a URL may have 2,048.
  it.each([
    [true, [image('a'.repeat(2028))]],
    [false, [image('a'.repeat(2029))]],
    [true, [image('é'.repeat(1000))]],
    [true, Array.from({ length: 10 }, () => image(`${EMOJI.repeat(1000)}${'"'.repeat(1028)}`))],
    [true, ['https://bücher.example/']],
    [
      true,
      ['https://💩.example/', 'https://例え。jp/', 'https://نامه‌ای.com/', 'https://a_b.example/'],
    ],
    [true, ['http://[::1]:8080/a']],
    [true, ['http://127.0.0.1/']],
    [true, ['https://example.com:65535/']],
  ])('agree with the service on the images (valid: %s) %j', async (valid, images) => {
    expect(isValid(CREATE_POST, { images })).toBe(valid);
    expect((await member.post('/posts', { images })).status).toBe(valid ? 201 : 400);
  });

  it.each([
    { images: ['https://user:secret@example.com/'] },
    { images: [image('é'.repeat(1500))] },
    { title: 'a\tb' },
    { content: '\u2800' },
    { title: 'a', tags: ['\u0000'] },
  ])(
    'document further rules, such as that against %j, in descriptions instead of patterns',
    async (body) => {
      expect(isValid(CREATE_POST, body)).toBe(true);
      expect((await member.post('/posts', body)).status).toBe(400);
      const name = Object.keys(body).at(-1) ?? '';
      const schema = CREATE_POST.properties?.[name] ?? {};
      expect(schema['description']).toMatch(/without|not blank/);
      expect(JSON.stringify(schema)).not.toContain('pattern');
    },
  );

  const open = async (parameters: Record<string, string>): Promise<Response> => {
    const link = authorizeLink(await app().addClient(), parameters);
    return app().fetch(link, { redirect: 'manual' });
  };

  it.each(['é'.repeat(2049), EMOJI.repeat(1025)])(
    'document the limit of a state in bytes in the description (case %#)',
    async (state) => {
      expect(isValid(parameter('state'), state)).toBe(true);
      expect((await open({ state })).status).not.toBe(200);
    },
  );

  it('allow the prompts of the server metadata and forbid others', async () => {
    const metadata = await app().fetch('/.well-known/oauth-authorization-server');
    const { prompt_values_supported: prompts } = await json<{ prompt_values_supported: string[] }>(
      metadata,
    );
    expect(prompts.length).toBeGreaterThan(0);
    for (const prompt of prompts) expect(isValid(parameter('prompt'), prompt)).toBe(true);
    const interactive = prompts.filter((prompt) => prompt !== 'none');
    for (const prompt of [...interactive, interactive.join(' ')]) {
      expect(isValid(parameter('prompt'), prompt)).toBe(true);
      expect((await open({ prompt })).status).toBe(200);
    }
    for (const prompt of ['create', 'none login', 'LOGIN']) {
      expect(isValid(parameter('prompt'), prompt)).toBe(false);
      expect((await open({ prompt })).status).not.toBe(200);
    }
  });

  it('include ui_locales', () => {
    expect(parameter('ui_locales')).toMatchObject({ type: 'string' });
  });

  it('include X-Request-Id for every operation', () => {
    for (const { operation } of operationEntries(document))
      expect(operation.parameters).toContainEqual(
        expect.objectContaining({ name: 'X-Request-Id', in: 'header', required: false }),
      );
  });

  it('list the headers that scripts of other origins can read', async () => {
    const { info } = document as unknown as { info: { description: string } };
    const response = await app().fetch('/dev/v1/me', { headers: { origin: 'https://x.example' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const exposed = response.headers.get('access-control-expose-headers') ?? '';
    expect(exposed).not.toBe('');
    expect(info.description).toContain(exposed);
  });

  it('have a public post as example', () => {
    expect(CREATE_POST.properties?.['visibility']?.['example']).toBe('public');
  });
});
