import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { Browser } from '../../support/browser.js';
import { sqliteFile } from '../../support/database.js';
import { useFolder } from '../../support/folder.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { json } from '../../support/responses.js';
import { type StartedService, startService } from '../../support/service-process.js';

const run = promisify(execFile);

const TRANSLATIONS = 'src/pages/translations';
/** The invented language: Spanish with a mark before each text, and the dates and numbers of Esperanto, from right to left. */
const TAG = 'en-XA';
const MARK = 'Xa ';
const LINKED = ['node_modules', 'test/system/node_modules', 'bench/node_modules'];

/** Adds the mark to every text of a source. */
function translated(source: string): string {
  const starts: number[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node);
    if (isText && !isName(node) && node.text !== 'ltr') starts.push(node.getStart() + 1);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('texts.ts', source, ts.ScriptTarget.Latest, true));
  return starts.reduceRight((text, at) => text.slice(0, at) + MARK + text.slice(at), source);
}

const isName = (node: ts.Node): boolean =>
  ts.isPropertyAssignment(node.parent) && node.parent.name === node;

/** Matches the lines of a property, in formatted code. */
const propertyOf = (key: string): RegExp =>
  new RegExp(`^( +)'?${key}'?: .*\\n(?:\\1 .*\\n)*(?:\\1[\\]}].*\\n)?`, 'm');

describe('The recipe for a language (CONTRIBUTING.md)', { timeout: 300_000 }, () => {
  const copy = useFolder();
  const folder = join(copy, TRANSLATIONS, TAG);
  const { url } = sqliteFile();
  let service: StartedService;

  /** Changes a file of the language. */
  async function edit(name: string, change: (source: string) => string): Promise<void> {
    const file = join(folder, name);
    await writeFile(file, change(await readFile(file, 'utf8')));
  }

  /** The errors of the compiler, by default in all sources and tests. */
  async function compile(...options: string[]): Promise<string> {
    const compiling = run('npx', ['tsc', '--noEmit', '--pretty', 'false', ...options], {
      cwd: copy,
    });
    return (await compiling.catch((error: { stdout: string }) => error)).stdout;
  }

  beforeAll(async () => {
    const isSource = (path: string): boolean =>
      !['node_modules', 'dist', '.git', 'screenshots'].includes(basename(path));
    await cp('.', copy, { recursive: true, filter: isSource });
    for (const path of LINKED) await symlink(resolve(path), join(copy, path));
    await cp(join(TRANSLATIONS, 'es'), folder, {
      recursive: true,
      filter: (path) => !path.endsWith('.spec.ts'),
    });
    await edit('locale.ts', () => "export const LOCALE = 'eo';\n");
    await edit('errors.ts', translated);
    await edit('catalogue.ts', (source) =>
      translated(source)
        .replace('export const es:', 'export const enXA:')
        .replace("'ltr'", "'rtl'"),
    );
    const line = `export { enXA as '${TAG}' } from './${TAG}/catalogue.js';\n`;
    await writeFile(join(copy, TRANSLATIONS, 'languages.ts'), line, { flag: 'a' });
    await run('npm', ['run', '-s', 'build'], { cwd: copy });
    const build = { main: 'dist/src/bundle/main.js', folder: copy };
    service = await startService({ url, build });
  }, 300_000);
  afterAll(() => service?.stop());

  it('changes no other source and no test', async () => {
    expect(await compile()).toBe('');
  });

  it('adds the language to the metadata and selects it by Accept-Language', async () => {
    const { app } = service;
    const metadata = await app.fetch('/.well-known/oauth-authorization-server');
    expect(await json(metadata)).toMatchObject({ ui_locales_supported: ['en', TAG, 'es'] });
    for (const [accepted, language, title] of [
      ['en-XA, en;q=0.9', TAG, 'Xa Para desarrolladores'],
      ['en-US, en-XA;q=0.9', 'en', 'For developers'],
      ['es-MX', 'es', 'Para desarrolladores'],
    ] as const) {
      const page = await new Browser(app, { 'accept-language': accepted }).open('/');
      expect(page.headers.get('content-language')).toBe(language);
      const direction = language === TAG ? ' dir="rtl"' : '';
      expect(page.html).toContain(`<html lang="${language}"${direction}>`);
      expect(page.title).toMatch(new RegExp(`^${title} `));
    }
  });

  it('shows the sign-in, the consent, errors and the message in the language of ui_locales', async () => {
    const { app } = service;
    const [user, client] = [await app.addUser(), await app.addClient()];
    const visitor = new Browser(app, { 'accept-language': 'es' });
    const link = authorizeLink(client, { ui_locales: 'qaa en_XA' });
    const phonePage = await visitor.open(link);
    expect(phonePage.html).toContain('>Germanujo (+49)<');
    const consent = await visitor.signInOn(phonePage, user);
    expect(consent.html).toContain(
      '<h1>Xa <bdi>Garden Share</bdi> quiere acceder a su cuenta</h1>',
    );
    expect(consent.html).toContain(
      '<span>Xa Ver su nombre, su foto, su karma y su vecindario</span>',
    );
    expect(app.sms.messagesTo(user.phone)[0]?.text).toMatch(
      /^Xa Use \d{6} para entrar en Xa Red vecinalXa  y seguir en Garden Share\. Sirve durante 5 minutoj\./,
    );
    const error = await visitor.open(
      authorizeLink({ ...client, clientId: 'x' }, { ui_locales: TAG }),
    );
    expect(error.title).toMatch(/^Xa Error: Xa Aplicación desconocida /);
  });

  it('does not compile without a text, and names it', async () => {
    const removed = [
      ['catalogue.ts', 'allow'],
      ['catalogue.ts', 'posts.write'],
      ['catalogue.ts', 'call'],
      ['errors.ts', 'service_unavailable'],
    ] as const;
    for (const [name, key] of removed)
      await edit(name, (source) => source.replace(propertyOf(key), ''));
    const files = { extends: '../../../../tsconfig.json', include: ['..'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(files));
    const errors = await compile('-p', folder);
    for (const [name, key] of removed) {
      const error = String.raw`/en-XA/${name}\(\d+,\d+\): error TS\d+: Property '"?${key}"?' is missing`;
      expect(errors).toMatch(new RegExp(error));
    }
  });
});
