import { BatchLoader } from './batch-loader.js';
import type { RawTime } from './columns.js';
import { readQuery, readRows } from './sql.js';

it('the types of raw rows are those that all drivers return', () => {
  type Post = { id: string; likes: number; title: string | null; createdAt: RawTime };
  expectTypeOf(readRows<Post>).returns.resolves.toEqualTypeOf<Post[]>();

  // @ts-expect-error SQLite returns times as text.
  void readRows<{ at: Date }>;
  // @ts-expect-error SQLite returns times as text.
  void readRows<{ at: Date | null }>;
  // @ts-expect-error MySQL returns times as Date.
  void readRows<{ at: Date | string }>;
  // @ts-expect-error Booleans are numbers.
  void readRows<{ isVerified: boolean }>;
  // @ts-expect-error Lists are JSON text.
  void readRows<{ tags: string[] }>;
  // @ts-expect-error Objects are JSON text.
  void readRows<{ details: { title: string } }>;
  // @ts-expect-error As with readRows.
  void readQuery<{ at: Date }>;
  // @ts-expect-error As with readRows.
  void BatchLoader<{ at: Date }>;
});
