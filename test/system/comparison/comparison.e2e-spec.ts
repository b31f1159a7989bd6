import { sqliteFile } from '../../support/database.js';
import { rateLimits, UNLIMITED, useTestApp } from '../../support/test-app.js';
import { differences } from './differences.js';
import { ourServer, registerApps } from './our-server.js';
import { differenceOf, outcomeOf } from './outcome.js';
import type { TestedServer, Case } from './tested-server.js';
import { type ReferenceServer, startReferenceServer } from './reference-server.js';
import { authorizeCases } from './cases/authorize.cases.js';
import { clientAuthenticationCases } from './cases/client-authentication.cases.js';
import { metadataCases } from './cases/metadata.cases.js';
import { refreshCases } from './cases/refresh.cases.js';
import { tokenManagementCases } from './cases/token-management.cases.js';
import { tokenCases } from './cases/token.cases.js';

const cases: readonly Case[] = [
  ...metadataCases,
  ...authorizeCases,
  ...clientAuthenticationCases,
  ...tokenCases,
  ...refreshCases,
  ...tokenManagementCases,
];

/** One browser and three apps send hundreds of requests, many of them invalid: rate limits must not reject any. */
const ENV = rateLimits({
  'token-failures': UNLIMITED,
  'token-address-failures': UNLIMITED,
  'sign-in-calls': UNLIMITED,
});

describe('The outcome equals that of oidc-provider, except for the known differences', () => {
  const app = useTestApp(sqliteFile(), ENV);
  let ours: TestedServer;
  let theirs: ReferenceServer;

  beforeAll(async () => {
    const apps = await registerApps(app());
    ours = ourServer(app(), apps, await app().addUser());
    theirs = await startReferenceServer(apps, app().config.lifetimes);
  });
  afterAll(() => theirs?.stop());

  it.each(cases.map((each) => [titleOf(each), each] as const))('%s', async (_, each) => {
    const [our, their] = await Promise.all([outcomeOf(each, ours), outcomeOf(each, theirs)]);
    const known = differences[each.name];
    expect(differenceOf(our, their)).toEqual(known && { ours: known.ours, theirs: known.theirs });
  });

  it('has a case for each known difference, and a unique name for each case', () => {
    const names = cases.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(Object.keys(differences).filter((name) => !names.includes(name))).toEqual([]);
  });
});

function titleOf({ name, proves }: Case): string {
  return proves === undefined ? name : `${name} (${proves})`;
}
