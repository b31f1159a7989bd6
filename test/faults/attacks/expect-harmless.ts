import { escaped } from './hostile-texts.js';
import { dumpTables } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { type TestApp, flushDeferredWrites } from '../../support/test-app.js';

/** A response with its body. */
export interface ReadResponse {
  status: number;
  headers: Headers;
  body: string;
}

/** Parts of the hostile texts that a browser would execute if they were not escaped. */
const CODE = /<script>|<img src=x|<svg\/onload|onfocus='alert|(?:href|src|action)="\s*javascript:/i;
/** The origin of the redirect URIs of the test apps. */
const APP_ORIGIN = 'https://garden.example';

/**
 * Asserts that a text in a request had no effect on its response: no fault, no injected header or cookie, no redirect to another
 * site, no code on a page, and valid JSON. `what` names the request in the message of a failed assertion.
 */
export function expectHarmless(
  { status, headers, body }: ReadResponse,
  text: string,
  baseUrl: string,
  what: string,
): void {
  const label = `${what} ← ${text}`;
  expect(status, `${label}\n${body}`).toBeLessThan(500);
  // Some hostile texts try to set a cookie with this name. The cookie of a page contains what was typed, encoded.
  const names = headers.getSetCookie().map((cookie) => cookie.split('=', 1)[0]);
  expect(names, label).not.toContain('stolen');
  // Node itself rejects malformed HTTP, with a status line only.
  if (status !== 400 || body !== '')
    expect(headers.get('x-request-id') ?? '', label).toMatch(/^req_[0-9a-z]{26}$/);
  const location = headers.get('location');
  if (location !== null) {
    expect(location, label).toMatch(/^[!-~]+$/);
    expect([baseUrl, APP_ORIGIN], label).toContain(new URL(location, baseUrl).origin);
  }
  const type = headers.get('content-type') ?? '';
  if (body !== '') expect(headers.get('x-content-type-options'), label).toBe('nosniff');
  if (type.startsWith('text/html')) {
    expect(body, label).not.toMatch(CODE);
    expect(body.includes(text) && text !== escaped(text), `${label}\n${body}`).toBe(false);
  } else if (body !== '') {
    expect(type, label).toMatch(/^application\/json\b/);
    expect(() => JSON.parse(body) as unknown, label).not.toThrow();
  }
}

/** Reads the whole body of a response. */
export async function readResponse(response: Response): Promise<ReadResponse> {
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/** Ignored, because a job of the service updates it every ten minutes. */
const RECOUNTED_TABLE = 'api_usage_daily';

/** A user with a post, a comment and an app, whose rows must not change. */
export class Bystander {
  private constructor(
    private readonly member: Member,
    private readonly before: Record<string, unknown[]>,
  ) {}

  static async join(app: TestApp): Promise<Bystander> {
    // With a name of its own: the registration of a similar name records the id of this app.
    const client = await app.addClient({ name: 'Bystander' });
    const member = await Member.join(app, { client });
    await member.comment((await member.publish()).id);
    await flushDeferredWrites(app);
    return new Bystander(member, await rowsOf(member));
  }

  /** Asserts that the rows of the user and their app have not changed. */
  async expectUnchanged(): Promise<void> {
    expect(Object.values(this.before).flat().length).toBeGreaterThan(4);
    expect(await rowsOf(this.member)).toEqual(this.before);
  }
}

async function rowsOf({ app, user, client }: Member): Promise<Record<string, unknown[]>> {
  const ids = [user.id, client.clientId];
  const tables = [...(await dumpTables(app.dataSource))].map(([table, text]) => {
    const rows = JSON.parse(text) as unknown[];
    const own = rows.filter((row) => ids.some((id) => JSON.stringify(row).includes(id)));
    return [table, own] as const;
  });
  return Object.fromEntries(tables.filter(([table]) => table !== RECOUNTED_TABLE));
}
