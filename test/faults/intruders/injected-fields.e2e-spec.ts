import { Comment } from '../../../src/modules/comments/comment.entity.js';
import { Post } from '../../../src/modules/posts/post.entity.js';
import { onSqliteAndOneServer } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { publishedDocument, schemaChecks } from '../../support/published-document.js';
import type { MadeRequest } from '../../support/request-arbitraries.js';
import { show } from '../figures.js';
import { Bystander } from './bystander.js';
import { type Field, fieldsOf, fullRequestsOf, withText } from './fields.js';
import { expectHarmless, heard, type Heard } from './harmless.js';
import { HOSTILE_PARAGRAPHS, textsFor } from './hostile.js';
import { useBoth } from './logging-service.js';

const LONG_MS = 120_000;
const document = publishedDocument();
const checkOf = schemaChecks(document, { closed: false });

/** Asserts that the API refuses what the document does not allow in a field, and gives back what it allows as it was sent. */
function expectAsDeclared(field: Field, sent: MadeRequest, text: string, answer: Heard): void {
  const { place, where, name = '' } = field;
  if (!place.path.startsWith('/dev/')) return;
  const asked = `${place.operation.operationId} ${where} ${name} ← ${text}\n${answer.body}`;
  if (where === 'path') return expect(answer.status, asked).toBe(404);
  const isValid = (): boolean => {
    const parameter = place.operation.parameters?.find((one) => one.name === name);
    const value = where === 'header' ? sent.headers[name]?.trim() : text;
    return parameter === undefined || checkOf(parameter.schema)(value).length === 0;
  };
  if (where !== 'body') return expect(answer.status === 400, asked).toBe(!isValid());
  const schema = place.operation.requestBody?.content['application/json']?.schema ?? {};
  const body = JSON.parse(sent.body ?? '') as Record<string, unknown>;
  const isAllowed = checkOf(schema)(body).length === 0;
  expect(answer.status, asked).toBe(isAllowed ? 201 : 400);
  if (isAllowed) expect((JSON.parse(answer.body) as typeof body)[name], asked).toEqual(body[name]);
}

onSqliteAndOneServer(
  'Texts that are code elsewhere, in each field of the document,',
  (database) => {
    const { app, service } = useBoth(database);

    /** Asserts that what was made has this field as it was sent. */
    async function expectStored(
      { place, name = '' }: Field,
      { body = '' }: MadeRequest,
      answer: Heard,
    ): Promise<void> {
      const { id } = JSON.parse(answer.body) as { id: string };
      const { manager } = app().dataSource;
      const stored = await (place.path.endsWith('/posts')
        ? manager.findOneByOrFail(Post, { id })
        : manager.findOneByOrFail(Comment, { id }));
      const sent = JSON.parse(body) as Record<string, unknown>;
      if (name in sent) expect(stored).toMatchObject({ [name]: sent[name] });
    }

    it(
      'are refused or kept as they were sent, and do nothing',
      { timeout: LONG_MS },
      async ({ task }) => {
        const bystander = await Bystander.join(app());
        const requests = await fullRequestsOf(await Member.join(app()));
        const fields = fieldsOf(document);
        const succeeded = new Set<string>();
        let sent = 0;
        for (const [at, field] of fields.entries())
          for (const text of textsFor(at)) {
            const { operationId } = field.place.operation;
            const plain = requests.get(operationId);
            if (plain === undefined) throw new Error(`No request of ${operationId}.`);
            const { path, ...init } = withText(plain, field, text);
            const answer = await heard(await service().fetch(path, init));
            const what = `${operationId} ${field.where} ${field.name ?? '(a name)'}`;
            expectHarmless(answer, text, service().baseUrl, what);
            expectAsDeclared(field, { path, ...init }, text, answer);
            if (answer.status === 201) await expectStored(field, { path, ...init }, answer);
            if (answer.status < 400) succeeded.add(operationId);
            sent += 1;
          }
        expect([...succeeded].toSorted()).toEqual([...requests.keys()].toSorted());
        await bystander.expectUntouched();
        const lines = await service().expectCleanLog();
        expect(lines).toBeGreaterThanOrEqual(sent);
        show(
          task,
          `${database.engine.label}: ${fields.length} fields of the document, ${HOSTILE_PARAGRAPHS.length} hostile texts, ${sent} requests, ${lines} lines of JSON`,
        );
      },
    );
  },
);
