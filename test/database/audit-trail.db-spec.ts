import { AuditEvent } from '../../src/platform/audit/audit-event.entity.js';
import {
  type AuditSearch,
  AuditEventReader,
} from '../../src/platform/audit/audit-log.repository.js';
import { addMilliseconds } from '../../src/platform/clock.js';
import { newId } from '../../src/platform/ids.js';
import { onEachEngine } from '../support/database.js';
import { analyzeTables, insertMany } from '../support/fixtures.js';
import { explainQuery, recordQueries, fullScansOf } from '../support/queries.js';
import { useTestApp } from '../support/test-app.js';

const ROWS = 4000;
/** The events up to this index have the same timestamp. The later ones are a millisecond apart. */
const LAST_INDEX_AT_START = 2500;
const START = new Date('2026-11-01T00:00:00.000Z');
const ANY_INDEX = '';
const numbered = (prefix: 'svc_app' | 'usr', number: number) =>
  `${prefix}_${String(number).padStart(26, '0')}`;

onEachEngine('Audit log search', (database) => {
  const app = useTestApp(database);

  /** Events of 100 apps and 40 users, most of them with one timestamp. */
  beforeAll(async () => {
    const { dataSource } = app();
    await insertMany(dataSource, AuditEvent, ROWS, (number) => {
      const at = addMilliseconds(START, Math.max(0, number - LAST_INDEX_AT_START));
      return {
        at,
        id: newId('evt', at),
        action: number % 1000 === 1 ? 'app.created' : 'token.issued',
        actor: 'service',
        subject: 'x',
        clientId: numbered('svc_app', number % 100),
        userId: numbered('usr', Math.floor(number / 100)),
        details: {},
      };
    });
    await analyzeTables(database, dataSource);
  });

  async function find(search: AuditSearch, limit?: number): Promise<AuditEvent[]> {
    const events: AuditEvent[] = [];
    for await (const event of app().service(AuditEventReader).search(search, limit))
      events.push(event);
    return events;
  }

  it('returns every event once, newest first, including events of one millisecond', async () => {
    const events = await find({});
    expect(events).toHaveLength(ROWS);
    expect(new Set(events.map(({ id }) => id)).size).toBe(ROWS);
    const keys = events.map(({ at, id }) => `${at.toISOString()} ${id}`);
    expect(keys).toEqual(keys.toSorted().toReversed());
  });

  it('finds rare events on every page', async () => {
    expect(await find({ action: 'app.created' })).toHaveLength(ROWS / 1000);
    const one = { clientId: numbered('svc_app', 1), userId: numbered('usr', 10) };
    expect(await find(one)).toHaveLength(1);
    expect(await find({ clientId: one.clientId }, 7)).toHaveLength(7);
  });

  it.each<[string, string, AuditSearch]>([
    ['an app', 'ix_audit_events_client_id', { clientId: numbered('svc_app', 1) }],
    ['a user', 'ix_audit_events_user_id', { userId: numbered('usr', 10) }],
    [
      'a time range',
      ANY_INDEX,
      { since: START, until: addMilliseconds(START, 10), action: 'app.created' },
    ],
  ])('reads only the events of %s, by an index', async (_title, index, search) => {
    const { dataSource } = app();
    const searches = await recordQueries(dataSource, () => find(search));
    expect(searches.length).toBeGreaterThan(0);
    for (const { query, parameters } of searches) {
      expect(await fullScansOf(database, dataSource, query, parameters)).toEqual([]);
      const plan = JSON.stringify(await explainQuery(database, dataSource, query, parameters));
      expect(plan).toContain(index);
    }
  });
});
