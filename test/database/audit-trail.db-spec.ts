import { AuditEvent } from '../../src/audit/audit-event.entity.js';
import { type AuditSearch, AuditTrail } from '../../src/audit/audit-trail.repository.js';
import { later } from '../../src/common/clock.js';
import { newId } from '../../src/common/ids.js';
import { onEachEngine } from '../support/database.js';
import { explainQuery, recordQueries, fullScansOf } from '../support/queries.js';
import { useTestApp } from '../support/test-app.js';

const ROWS = 4000;
const A_MOMENT = 2500;
const START = new Date('2026-11-01T00:00:00.000Z');
const numbered = (prefix: 'svc_app' | 'usr', number: number) =>
  `${prefix}_${String(number).padStart(26, '0')}`;

onEachEngine('The search of the audit log', (database) => {
  const app = useTestApp(database);

  /** Most of them at the same millisecond, and of a hundred apps and a hundred users. */
  beforeAll(async () => {
    const { dataSource } = app();
    const rows = Array.from({ length: ROWS }, (_, number) => {
      const at = later(START, Math.max(0, number - A_MOMENT));
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
    for (let from = 0; from < ROWS; from += 500)
      await dataSource.manager.insert(AuditEvent, rows.slice(from, from + 500));
    const isSqlite = database.engine.kind === 'sqlite';
    await dataSource.query(`ANALYZE ${isSqlite ? '' : 'TABLE '}audit_events`);
  });

  async function found(wanted: AuditSearch, most?: number): Promise<AuditEvent[]> {
    const events: AuditEvent[] = [];
    for await (const event of app().service(AuditTrail).search(wanted, most)) events.push(event);
    return events;
  }

  it('walks every event once, newest first, also those of one millisecond', async () => {
    const events = await found({});
    expect(events).toHaveLength(ROWS);
    expect(new Set(events.map(({ id }) => id)).size).toBe(ROWS);
    const keys = events.map(({ at, id }) => `${at.toISOString()} ${id}`);
    expect(keys).toEqual(keys.toSorted().toReversed());
  });

  it('finds the rare among the many, on every page', async () => {
    expect(await found({ action: 'app.created' })).toHaveLength(ROWS / 1000);
    const one = { clientId: numbered('svc_app', 1), userId: numbered('usr', 10) };
    expect(await found(one)).toHaveLength(1);
    expect(await found({ clientId: one.clientId }, 7)).toHaveLength(7);
  });

  it.each<[string, string, AuditSearch]>([
    ['an app', 'ix_audit_events_client_id', { clientId: numbered('svc_app', 1) }],
    ['a user', 'ix_audit_events_user_id', { userId: numbered('usr', 10) }],
    ['a day', '', { since: START, until: later(START, 10), action: 'app.created' }],
  ])('reads no more than the events of %s', async (_title, index, wanted) => {
    const { dataSource } = app();
    const searches = await recordQueries(dataSource, () => found(wanted));
    expect(searches.length).toBeGreaterThan(0);
    for (const { query, parameters } of searches) {
      expect(await fullScansOf(database, dataSource, query, parameters)).toEqual([]);
      const plan = JSON.stringify(await explainQuery(database, dataSource, query, parameters));
      expect(plan).toContain(index);
    }
  });
});
