import { SmsQueue } from '../../src/modules/oauth/sign-in/sms/sms-queue.js';
import { Browser } from '../support/browser.js';
import { useMetricsApp } from '../support/metrics-app.js';
import { onOneEngine } from '../support/database.js';
import { Member } from '../support/member.js';
import { authorizeLink, obtainTokens, sendRefresh } from '../support/oauth-flow.js';
import { rateLimits } from '../support/test-app.js';
import { VERIFY, DECISION, submitPhone } from '../support/sign-in.js';

const HOUR = 60 * 60 * 1000;

onOneEngine('OAuth metrics', (database) => {
  const { app, read, readAll } = useMetricsApp(database, rateLimits({ 'phone-failures': 2 }));

  /** The values of a counter with one label, by the value of the label. */
  async function counts(name: string): Promise<Record<string, number>> {
    const lines = [
      ...(await readAll()).matchAll(new RegExp(`^${name}\\{\\w+="([^"]*)"\\} (\\d+)$`, 'gm')),
    ];
    return Object.fromEntries(lines.map(([, label, value]) => [label, Number(value)]));
  }

  /** Runs `work`. Returns the increase of each series that the counter had before. */
  async function increases(
    name: string,
    work: () => Promise<unknown>,
  ): Promise<Record<string, number>> {
    const before = await counts(name);
    await work();
    const after = await counts(name);
    return Object.fromEntries(
      Object.entries(before).map(([label, value]) => [label, (after[label] ?? 0) - value]),
    );
  }

  it('count submitted one-time passwords by outcome', async () => {
    const user = await app().addUser();
    const visitor = new Browser(app());
    const link = authorizeLink(await app().addClient());
    const codePage = await submitPhone(visitor, link, user.phone);
    const wrong = (await app().sms.password(user.phone)) === '000000' ? '000001' : '000000';
    const codes = [wrong, 'not a code', wrong, wrong];
    const rejected = await increases('sign_ins_total', async () => {
      for (const code of codes) await visitor.submit(codePage, VERIFY, { code });
    });
    const none = { verified: 0, wrong: 0, no_valid_password: 0, locked: 0, throttled: 0 };
    expect(rejected).toEqual({ ...none, wrong: 2, throttled: 1 });
    app().clock.advance(HOUR);
    expect(await increases('sign_ins_total', () => new Browser(app()).signIn(link, user))).toEqual({
      ...none,
      verified: 1,
    });
  });

  it('count the messages that the gateway accepted, but none to unknown numbers', async () => {
    const countSent = async () => (await read('otp_messages_sent_total')) ?? NaN;
    const before = await countSent();
    const link = authorizeLink(await app().addClient());
    const stranger = new Browser(app());
    await submitPhone(stranger, link, '+14155559999');
    await new Browser(app()).signIn(link, await app().addUser());
    await app().service(SmsQueue).idle();
    expect((await countSent()) - before).toBe(1);
  });

  it('count the decisions of users on the consent page', async () => {
    const link = authorizeLink(await app().addClient());
    // Approving without a scope denies access.
    const decisions = [
      { scope: 'profile.read', decision: 'approve' },
      { scope: 'profile.read', decision: 'deny' },
      { scope: [], decision: 'approve' },
    ];
    const decide = async (fields: Record<string, string | string[]>): Promise<void> => {
      const visitor = new Browser(app());
      const consent = await visitor.signIn(link, await app().addUser());
      const send = () => visitor.submit(consent, DECISION, fields, { follow: false });
      await send();
      // A second decision on the same request does not count.
      await send();
    };
    const counted = await increases('oauth_consents_total', async () => {
      for (const fields of decisions) await decide(fields);
    });
    expect(counted).toEqual({ approved: 1, denied: 2 });
  });

  it('count issued tokens by grant type, without repeated responses', async () => {
    const client = await app().addClient();
    const counted = await increases('oauth_tokens_issued_total', async () => {
      const { refresh_token } = await obtainTokens(app(), client);
      for (const token of [refresh_token, refresh_token, 'svcrt_none'])
        await sendRefresh(app(), client, token);
    });
    expect(counted).toEqual({ authorization_code: 1, refresh_token: 1 });
  });

  it('count API calls with a valid access token by app', async () => {
    const member = await Member.join(app(), { scopes: ['posts.read'] });
    await member.get('/posts');
    // The token lacks the scope.
    await member.get('/me');
    await app().call('tok_none', 'GET', '/me');
    await expect.poll(() => counts('api_calls_total')).toEqual({ [member.client.clientId]: 2 });
  });
});
