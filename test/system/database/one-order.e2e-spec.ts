import { AppsService } from '../../../src/modules/oauth/clients/apps.service.js';
import { Grant } from '../../../src/modules/oauth/tokens/token.entities.js';
import { Browser, type Page } from '../../support/browser.js';
import { onEachEngine } from '../../support/database.js';
import { authorizeLink } from '../../support/oauth-flow.js';
import { DECISION } from '../../support/sign-in.js';
import { useTestApp } from '../../support/test-app.js';

const ROUNDS = 5;
const SCOPES = ['posts.read', 'posts.write'];

onEachEngine('Two changes at once, as if one after the other', (database) => {
  const app = useTestApp(database);

  it('two apps with names that look alike: one is registered', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const registrations = await Promise.allSettled(
        [`Garden ${round}`, `GARDEN ${round}`].map((name) =>
          app()
            .service(AppsService)
            .register(
              {
                name,
                kind: 'public',
                redirectUris: ['https://garden.example/callback'],
                scope: 'profile.read',
              },
              { actor: 'olga' },
            ),
        ),
      );
      const outcomes = registrations.map(({ status }) => status);
      expect(outcomes.toSorted()).toEqual(['fulfilled', 'rejected']);
      for (const registration of registrations)
        if (registration.status === 'rejected')
          expect(String(registration.reason)).toContain('The name looks like that of the app');
    }
  });

  it('two decisions of a user that each withhold what the other allows: the later one counts', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const user = await app().addUser();
      const client = await app().addClient();
      const pages: [Browser, Page][] = [];
      for (let index = 0; index < SCOPES.length; index += 1) {
        const visitor = new Browser(app());
        const link = authorizeLink(client, { scope: SCOPES.join(' ') });
        pages.push([visitor, await visitor.signIn(link, user)]);
        app().clock.advance(61_000);
      }
      await Promise.all(
        pages.map(([visitor, page], index) =>
          visitor.submit(
            page,
            DECISION,
            { decision: 'approve', scope: SCOPES[index] as string },
            { follow: false },
          ),
        ),
      );
      const grants = await app().dataSource.manager.findBy(Grant, { clientId: client.clientId });
      expect(grants).toHaveLength(2);
      expect(grants.filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1);
    }
  });
});
