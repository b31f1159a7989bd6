import mysql from 'mysql2/promise';
import { UserAccess } from '../../../src/modules/oauth/account/user-access.service.js';
import { SignInSession } from '../../../src/modules/oauth/sign-in/sign-in.entities.js';
import { Browser } from '../../support/browser.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { onEachServer } from '../../support/database.js';
import { isStatementRunning, useTestApp } from '../../support/test-app.js';

onEachServer('Revocation of all access during a sign-in', (database) => {
  const app = useTestApp(database);

  it('waits for the sign-in, then ends the session that the sign-in created', async () => {
    const [ana, ben] = [await app().addUser(), await app().addUser()];
    const visitor = new Browser(app());
    const link = authorizeLink(await app().addClient(), { prompt: 'login' });
    await visitor.signIn(link, ben);

    const phonePage = await visitor.open(link);
    const { phone } = ana;
    const codePage = await visitor.submit(phonePage, '/oauth/authorize/sign-in', { phone });
    const code = await app().sms.password(phone);
    const directConnection = await mysql.createConnection(database.url);
    try {
      await directConnection.beginTransaction();
      await directConnection.query('DELETE FROM sign_in_sessions WHERE user_id = ?', [ben.id]);
      const verify = '/oauth/authorize/verify';
      const signingIn = visitor.submit(codePage, verify, { code }, { follow: false });
      // The sign-in has consumed the one-time password and waits to delete the browser's previous session, of Ben.
      await waitForStatement('DELETE FROM `sign_in_sessions`');
      const revoking = app().service(UserAccess).end(ana.id, { actor: 'olga' });
      await waitForStatement('DELETE FROM `otp_challenges`');
      await directConnection.rollback();
      expect((await signingIn).location).toMatch(/\/consent$/);
      expect((await revoking).sessions).toBe(1);
    } finally {
      await directConnection.end();
    }
    const { manager } = app().dataSource;
    expect(await manager.countBy(SignInSession, { userId: ana.id })).toBe(0);
  });

  async function waitForStatement(statement: string): Promise<void> {
    await expect.poll(() => isStatementRunning(app(), statement), { timeout: 4000 }).toBe(true);
  }
});
