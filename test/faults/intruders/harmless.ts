import { escaped } from './hostile.js';

/** An answer that was read. */
export interface Heard {
  status: number;
  headers: Headers;
  body: string;
}

/** Pieces of the hostile texts that are code only where nothing escapes them. */
const CODE = /<script>|<img src=x|<svg\/onload|onfocus='alert|(?:href|src|action)="\s*javascript:/i;
/** Where redirects may lead to. */
const OWN_ORIGINS = ['https://garden.example'];

/**
 * Asserts that a text did nothing but be told: no fault, no header or cookie of its own, no redirect to elsewhere, no code on
 * a page, and JSON that is JSON and nothing else. `what` says in a failure what was asked for.
 */
export function expectHarmless(
  { status, headers, body }: Heard,
  text: string,
  baseUrl: string,
  what: string,
): void {
  const asked = `${what} ← ${text}`;
  expect(status, `${asked}\n${body}`).toBeLessThan(500);
  expect(headers.getSetCookie().join(), asked).not.toContain('stolen');
  // What is not HTTP is refused by Node itself, in a line and nothing else.
  if (status !== 400 || body !== '')
    expect(headers.get('x-request-id') ?? '', asked).toMatch(/^[\w.-]{1,64}$/);
  const location = headers.get('location');
  if (location !== null) {
    expect(location, asked).toMatch(/^[!-~]+$/);
    expect([baseUrl, ...OWN_ORIGINS], asked).toContain(new URL(location, baseUrl).origin);
  }
  const type = headers.get('content-type') ?? '';
  if (body !== '') expect(headers.get('x-content-type-options'), asked).toBe('nosniff');
  if (type.startsWith('text/html')) {
    expect(body, asked).not.toMatch(CODE);
    expect(body.includes(text) && text !== escaped(text), `${asked}\n${body}`).toBe(false);
  } else if (body !== '') {
    expect(type, asked).toMatch(/^application\/json\b/);
    expect(() => JSON.parse(body) as unknown, asked).not.toThrow();
  }
}

/** Reads an answer to its end. */
export async function heard(answer: Response): Promise<Heard> {
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}
