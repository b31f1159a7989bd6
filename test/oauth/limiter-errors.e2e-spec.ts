import { Browser } from '../support/browser.js';
import { onSqlite } from '../support/database.js';
import { authorizeLink, requestToken } from '../support/oauth-flow.js';
import { expectPage, expectTokenError } from '../support/responses.js';
import { type TestClient, useTestApp } from '../support/test-app.js';

const SIGN_IN = '/oauth/authorize/sign-in';
const VERIFY = '/oauth/authorize/verify';
/** An error that is no outage of the database. */
const FAIL_ON_INSERT = `CREATE TRIGGER fail_on_insert BEFORE INSERT ON throttle_hits BEGIN SELECT RAISE(ABORT, 'a bug'); END`;

onSqlite('Errors of the limits of failed attempts', (database) => {
  const app = useTestApp(database);
  let client: TestClient;

  beforeAll(async () => {
    client = await app().addClient();
  });
  afterEach(() => app().dataSource.query('DROP TRIGGER fail_on_insert'));

  it('are internal errors of the token endpoint: no attempt remains uncounted', async () => {
    await app().dataSource.query(FAIL_ON_INSERT);
    const wrong = { grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'wrong' };
    await expectTokenError(await requestToken(app(), client, wrong), 'server_error', 500);
  });

  it('are internal errors of the pages', async () => {
    const browser = new Browser(app());
    const phonePage = await browser.open(authorizeLink(client));
    const { phone } = await app().addUser();
    const codePage = await browser.submit(phonePage, SIGN_IN, { phone });
    const code = await app().sms.password(phone);
    await app().dataSource.query(FAIL_ON_INSERT);
    expectPage(await browser.submit(phonePage, SIGN_IN, { token: 'x' }), 500);
    const wrong = code === '000000' ? '000001' : '000000';
    expectPage(await browser.submit(codePage, VERIFY, { code: wrong }), 500);
  });
});
