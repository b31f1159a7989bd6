import { PersonalData } from '../../src/modules/operations/personal-data.js';
import { onSqlite } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';

/** Tables about apps and the service. They have no column for a user. */
const NOT_PERSONAL = [
  'apps',
  'app_secrets',
  'app_redirect_uris',
  'app_logo_parts',
  'app_quotas',
  'quota_usage',
  'api_usage_daily',
  'job_runs',
  'otp_counts',
  'otp_pauses',
  'webhook_endpoints',
];

/** Not exported, because a row is only a count under a hash. The rows of a user's phone are erased with the user. */
const ONLY_HASHES = ['throttle_hits'];

onSqlite('Tables with personal data', (database) => {
  const app = useTestApp(database);
  const person = { userId: 'usr_x', phone: '+14155550101' };
  const tables = (): string[] =>
    app()
      .dataSource.entityMetadatas.map(({ tableName }) => tableName)
      .toSorted();

  it('are all exported by "user export"', () => {
    const rows = app().service(PersonalData).rowsToExport(person);
    const exported = rows.map(({ table }) => table);
    expect([...exported, ...ONLY_HASHES, ...NOT_PERSONAL].toSorted()).toEqual(tables());
  });

  it('are all erased by "user erase"', () => {
    const erased = app().service(PersonalData).rowsToErase(person);
    // Rows of other users on the posts of this one are counted apart.
    const names = new Set(erased.map(({ table }) => table.replace(/_of_others$/, '')));
    expect([...names, ...NOT_PERSONAL].toSorted()).toEqual(tables());
  });

  it('include every table with a column for a user, a phone or a grant', () => {
    const named = app()
      .dataSource.entityMetadatas.filter(({ columns }) =>
        columns.some(({ propertyName }) => ['userId', 'phone', 'grantId'].includes(propertyName)),
      )
      .map(({ tableName }) => tableName);
    expect(named.filter((table) => NOT_PERSONAL.includes(table))).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });
});
