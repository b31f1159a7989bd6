import { dumpTables } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { type TestApp, flushDeferredWrites } from '../../support/test-app.js';

/** The service itself counts the calls of everybody there, every ten minutes. */
const COUNTED_ANEW = 'api_usage_daily';

/** A user with a post, a comment and an app, whom nothing that others do may touch. */
export class Bystander {
  private constructor(
    private readonly member: Member,
    private readonly before: Record<string, unknown[]>,
  ) {}

  static async join(app: TestApp): Promise<Bystander> {
    const member = await Member.join(app);
    await member.comment((await member.publish()).id);
    await flushDeferredWrites(app);
    return new Bystander(member, await rowsOf(member));
  }

  /** Asserts that every row that names the user or their app is as it was, and that there are no others. */
  async expectUntouched(): Promise<void> {
    expect(Object.values(this.before).flat().length).toBeGreaterThan(4);
    expect(await rowsOf(this.member)).toEqual(this.before);
  }
}

async function rowsOf({ app, user, client }: Member): Promise<Record<string, unknown[]>> {
  const names = [user.id, client.clientId];
  const tables = [...(await dumpTables(app.dataSource))].map(([table, text]) => {
    const rows = JSON.parse(text) as unknown[];
    const own = rows.filter((row) => names.some((name) => JSON.stringify(row).includes(name)));
    return [table, own] as const;
  });
  return Object.fromEntries(tables.filter(([table]) => table !== COUNTED_ANEW));
}
