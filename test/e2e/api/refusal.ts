import type { ErrorBody } from '../../support/json.js';

/** Words that would tell which framework, driver or language answers, or how it stores things. */
const INSIDE =
  /statusCode|Exception|Nest(?!ed)|Express|TypeORM|SELECT|INSERT|sqlite|mysql|maria|node_modules|\.js\b|\.ts\b|SyntaxError|TypeError|at position/i;

const MEMBERS = ['error', 'error_description', 'request_id', 'errors', 'doc_url'];

/** Asserts the one error body, whole, and answers it. */
export async function expectRefusal(
  answer: Response,
  status: number,
  error: string,
): Promise<ErrorBody> {
  const text = await answer.text();
  expect(`${answer.status} ${text}`).toMatch(new RegExp(`^${status} `));
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body = JSON.parse(text) as ErrorBody;
  expect(body.error).toBe(error);
  expect(Object.keys(body)).toEqual(
    MEMBERS.filter((member) => member !== 'errors' || body.errors !== undefined),
  );
  expect(body.error_description).toMatch(/^\S.*\.$/s);
  expect(body.request_id).toBe(answer.headers.get('x-request-id'));
  expect(body.doc_url).toMatch(new RegExp(`^http://[^/]+/docs/errors#${error}$`));
  for (const { field, code, message } of body.errors ?? []) {
    expect([typeof field, typeof code, message]).toEqual([
      'string',
      'string',
      expect.stringMatching(/\.$/),
    ]);
  }
  expect(wordsOf(text, body)).not.toMatch(INSIDE);
  return body;
}

/** What an answer says, without the id of its request: at random, that contains any short word. */
export function wordsOf(text: string, { request_id }: ErrorBody): string {
  return text.replaceAll(request_id, '');
}

/** Asserts a 400 with exactly these violations, in this order, each `field code`. */
export async function expectInvalid(answer: Response, ...violations: string[]): Promise<ErrorBody> {
  const body = await expectRefusal(answer, 400, 'invalid_request');
  expect(body.errors?.map(({ field, code }) => `${field} ${code}`.trim())).toEqual(violations);
  return body;
}
