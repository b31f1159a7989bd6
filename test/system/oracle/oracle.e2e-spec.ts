import { sqliteFile } from '../../support/database.js';
import { rateLimits, UNLIMITED, useTestApp } from '../../support/test-app.js';
import { differences } from './differences.js';
import { ourServer, registerApps } from './our-server.js';
import { differenceOf, outcomeOf } from './outcome.js';
import type { TestedServer, Row } from './tested-server.js';
import { type ReferenceServer, startReferenceServer } from './reference-server.js';
import { authorizeRows } from './rows/authorize.rows.js';
import { clientAuthenticationRows } from './rows/client-authentication.rows.js';
import { metadataRows } from './rows/metadata.rows.js';
import { refreshRows } from './rows/refresh.rows.js';
import { tokenManagementRows } from './rows/token-management.rows.js';
import { tokenRows } from './rows/token.rows.js';

const rows: readonly Row[] = [
  ...metadataRows,
  ...authorizeRows,
  ...clientAuthenticationRows,
  ...tokenRows,
  ...refreshRows,
  ...tokenManagementRows,
];

/** One browser and three apps send hundreds of requests, many of them invalid, and must not exceed a limit. */
const ENV = rateLimits({
  'token-failures': UNLIMITED,
  'token-address-failures': UNLIMITED,
  'sign-in-calls': UNLIMITED,
});

describe('Comparison with oidc-provider', () => {
  const app = useTestApp(sqliteFile(), ENV);
  let ours: TestedServer;
  let theirs: ReferenceServer;

  beforeAll(async () => {
    const apps = await registerApps(app());
    ours = ourServer(app(), apps, await app().addUser());
    theirs = await startReferenceServer(apps, app().config.lifetimes);
  });
  afterAll(() => theirs?.stop());

  it.each(rows.map((row) => [titleOf(row), row] as const))('Oracle: %s', async (_, row) => {
    const [our, their] = await Promise.all([outcomeOf(row, ours), outcomeOf(row, theirs)]);
    const known = differences[row.name];
    expect(differenceOf(our, their)).toEqual(known && { ours: known.ours, theirs: known.theirs });
  });

  it('has a row for each known difference, and a unique name for each row', () => {
    const names = rows.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(Object.keys(differences).filter((name) => !names.includes(name))).toEqual([]);
  });
});

function titleOf({ name, proves }: Row): string {
  return proves === undefined ? name : `${name} (${proves})`;
}
