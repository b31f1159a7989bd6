import { Browser } from '../support/browser.js';
import {
  approve,
  authorizeLink,
  exchange,
  obtainTokens,
  requestToken,
} from '../support/oauth-flow.js';
import { onOneEngine } from '../support/database.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

onOneEngine('Single-use values', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });

  /** The UPDATE statements that `work` executes on `table`, without the quotes of identifiers. */
  async function updatesOf(table: string, work: () => Promise<unknown>): Promise<string[]> {
    const statements = await app().statementsOf(work);
    const plain = statements.map((statement) => statement.replaceAll(/[`"]/g, ''));
    return plain.filter((statement) => statement.startsWith(`UPDATE ${table} `));
  }

  /** Asserts one UPDATE that both checks and sets the column, so that only one of two concurrent requests succeeds. */
  function expectConditionalUpdate(updates: string[], column: string): void {
    expect(updates).toEqual([
      expect.stringMatching(new RegExp(`SET .*${column} = .* WHERE .*${column} IS NULL`)),
    ]);
  }

  it('O137 consumes a code by one conditional UPDATE', async () => {
    const code = (await approve(app(), await app().addUser(), client)).get('code') ?? '';
    const consume = (): Promise<Response> => exchange(app(), client, code);
    expectConditionalUpdate(await updatesOf('authorization_codes', consume), 'consumed_at');
  });

  it('O137 consumes a refresh token by one conditional UPDATE', async () => {
    const { refresh_token } = await obtainTokens(app(), client);
    const form = { grant_type: 'refresh_token', refresh_token };
    const updates = await updatesOf('refresh_tokens', () => requestToken(app(), client, form));
    expectConditionalUpdate(updates, 'consumed_at');
  });

  it('O137 consumes a one-time password and a decision by one conditional UPDATE each', async () => {
    const user = await app().addUser();
    const visitor = new Browser(app());
    const phonePage = await visitor.open(authorizeLink(client));
    const phone = { phone: user.phone };
    const codePage = await visitor.submit(phonePage, '/oauth/authorize/sign-in', phone);
    const code = await app().sms.password(user.phone);
    let page = codePage;
    const verify = async (): Promise<void> => {
      page = await visitor.submit(codePage, '/oauth/authorize/verify', { code });
    };
    const passwords = await updatesOf('otp_challenges', verify);
    // Another UPDATE counts the attempt.
    expectConditionalUpdate(
      passwords.filter((update) => !update.includes('attempts = attempts')),
      'consumed_at',
    );
    const decide = (): Promise<unknown> =>
      visitor.submit(page, '/oauth/authorize/decision', {
        scope: 'profile.read',
        decision: 'approve',
      });
    expectConditionalUpdate(await updatesOf('authorizations', decide), 'answered_at');
  });
});
