import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { Post } from '../../../src/modules/posts/post.entities.js';
import { onSqliteAndOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { publishedDocument, schemaChecks } from '../../support/published-document.js';
import type { GeneratedRequest } from '../../support/request-arbitraries.js';
import { reportFigure } from '../figures.js';
import { Bystander, expectHarmless, readResponse, type ReadResponse } from './expect-harmless.js';
import { type Field, fieldsOf, fullRequestsOf, withText } from './request-fields.js';
import { HOSTILE_TEXTS, textsFor } from './hostile-texts.js';
import { useAppAndService } from './logging-service.js';

const TEST_TIMEOUT_MS = 120_000;
const document = publishedDocument();
const checkOf = schemaChecks(document, { allowUnknown: true });

/** Errors of rules that the schemas do not express. */
const UNDECLARED_RULES = /"code":"(?:blank|control_character|not_well_formed|invalid_format)"/;

/**
 * Asserts that the API rejects the values that the document or an undeclared rule forbids, accepts the others, and returns accepted
 * body members unchanged.
 */
function expectAsDeclared(
  field: Field,
  sent: GeneratedRequest,
  text: string,
  response: ReadResponse,
): void {
  const { entry, where, name = '' } = field;
  if (!entry.path.startsWith('/dev/')) return;
  const label = `${entry.operation.operationId} ${where} ${name} ← ${text}\n${response.body}`;
  // A hostile text is never the id of an item.
  if (where === 'path') return expect(response.status, label).toBe(404);
  const isValid = (): boolean => {
    const parameter = entry.operation.parameters?.find((one) => one.name === name);
    const value = where === 'header' ? sent.headers[name]?.trim() : text;
    return parameter === undefined || checkOf(parameter.schema)(value).length === 0;
  };
  if (where !== 'body') return expect(response.status === 400, label).toBe(!isValid());
  const schema = entry.operation.requestBody?.content['application/json']?.schema ?? {};
  const body = JSON.parse(sent.body ?? '') as Record<string, unknown>;
  const isAllowed = checkOf(schema)(body).length === 0 && !UNDECLARED_RULES.test(response.body);
  expect(response.status, label).toBe(isAllowed ? 201 : 400);
  if (isAllowed)
    expect((JSON.parse(response.body) as typeof body)[name], label).toEqual(body[name]);
}

onSqliteAndOneServer('Injection through each field of the published document', (database) => {
  const { app, service } = useAppAndService(database);

  /** Asserts that the field of the created item is stored without change. */
  async function expectStored(
    { entry, name = '' }: Field,
    { body = '' }: GeneratedRequest,
    response: ReadResponse,
  ): Promise<void> {
    const { id } = JSON.parse(response.body) as { id: string };
    const { manager } = app().dataSource;
    const stored = await (entry.path.endsWith('/posts')
      ? manager.findOneByOrFail(Post, { id })
      : manager.findOneByOrFail(Comment, { id }));
    const sent = JSON.parse(body) as Record<string, unknown>;
    if (name in sent) expect(stored).toMatchObject({ [name]: sent[name] });
  }

  it(
    'rejects hostile texts or stores them without change, and executes none',
    { timeout: TEST_TIMEOUT_MS },
    async ({ task }) => {
      const bystander = await Bystander.join(app());
      const requests = await fullRequestsOf(await Member.join(app()));
      const fields = fieldsOf(document);
      const succeeded = new Set<string>();
      let sent = 0;
      for (const [index, field] of fields.entries())
        for (const text of textsFor(index)) {
          const { operationId } = field.entry.operation;
          const plain = requests.get(operationId);
          if (plain === undefined) throw new Error(`No request of ${operationId}.`);
          const { path, ...init } = withText(plain, field, text);
          const response = await readResponse(await service().fetch(path, init));
          const what = `${operationId} ${field.where} ${field.name ?? '(unknown name)'}`;
          expectHarmless(response, text, service().baseUrl, what);
          expectAsDeclared(field, { path, ...init }, text, response);
          if (response.status === 201) await expectStored(field, { path, ...init }, response);
          if (response.status < 400) succeeded.add(operationId);
          sent += 1;
        }
      expect([...succeeded].toSorted()).toEqual([...requests.keys()].toSorted());
      await bystander.expectUnchanged();
      const lines = await service().expectCleanLog();
      expect(lines).toBeGreaterThanOrEqual(sent);
      reportFigure(
        task,
        `${database.engine.label}: ${fields.length} fields of the document, ${HOSTILE_TEXTS.length} hostile texts, ${sent} requests, ${lines} lines of JSON`,
      );
    },
  );
});
