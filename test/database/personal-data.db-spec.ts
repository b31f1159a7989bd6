import { EverythingPersonal } from '../../src/operations/privacy/everything-personal.js';
import { onSqlite } from '../support/database.js';
import { useTestApp } from '../support/test-app.js';

/** Tables of apps and of the service itself, where no column could name a user. */
const OF_NOBODY = [
  'apps',
  'app_secrets',
  'app_redirect_uris',
  'app_quotas',
  'quota_usage',
  'api_usage_daily',
  'job_runs',
];

/** Told to nobody, since a row is a number under a hash; those of a user's phone go with the user. */
const ONLY_HASHES = ['throttle_hits'];

onSqlite('Tables with personal data', (database) => {
  const app = useTestApp(database);
  const person = { userId: 'usr_x', phone: '+14155550101' };
  const tables = (): string[] =>
    app()
      .dataSource.entityMetadatas.map(({ tableName }) => tableName)
      .toSorted();

  it('are all told by "user export"', () => {
    const held = app().service(EverythingPersonal).held(person);
    const told = held.map(({ table }) => table);
    expect([...told, ...ONLY_HASHES, ...OF_NOBODY].toSorted()).toEqual(tables());
  });

  it('are all cleared by "user erase"', () => {
    const personal = app().service(EverythingPersonal);
    const cleared = [...personal.erased(person), ...personal.own(person)];
    const names = new Set(cleared.map(({ table }) => table));
    expect([...names, ...OF_NOBODY].toSorted()).toEqual(tables());
  });

  it('are those that have a column for a user or a phone', () => {
    const named = app()
      .dataSource.entityMetadatas.filter(({ columns }) =>
        columns.some(({ propertyName }) => ['userId', 'phone', 'grantId'].includes(propertyName)),
      )
      .map(({ tableName }) => tableName);
    expect(named.filter((table) => OF_NOBODY.includes(table))).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });
});
