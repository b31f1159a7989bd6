import type { Timed } from './operators.js';
import type { YearTables } from './tables.js';

export interface MonthFigures {
  period: string;
  http: { requests: number; seconds: number };
  seconds: Record<'rollUp' | 'reset' | 'reconcile' | 'prune', number>;
  /** Rows that the prune deleted. */
  deleted: number;
  rows: Record<string, number>;
  bytes: Record<string, number>;
}

export interface SlowStatement {
  seconds: number;
  rowsExamined: number;
  sql: string;
  plan: unknown;
}

export interface YearFigures {
  months: MonthFigures[];
  commands: Timed[];
  minutes: number;
}

/** The months of the columns, from 1. */
const COLUMNS = [3, 6, 9, 12];
const MAX_SQL = 2000;
/** Commands that took longer are in the table. */
const SLOW_SECONDS = 1;

/** The statements of commands that took longer than a second, with their plans. */
export async function slowStatements(tables: YearTables): Promise<SlowStatement[]> {
  const logged = await tables.query<{ seconds: string; rowsExamined: number; sql: string }>(
    `SELECT TIME_TO_SEC(query_time) AS seconds, rows_examined AS rowsExamined, CONVERT(sql_text USING utf8mb4) AS \`sql\`
      FROM mysql.slow_log WHERE user_host LIKE 'platform_test%' ORDER BY query_time DESC LIMIT 40`,
  );
  const slow: SlowStatement[] = [];
  for (const { seconds, rowsExamined, sql } of logged) {
    const plan = /^(SELECT|DELETE|UPDATE)/i.test(sql)
      ? await tables.query(`EXPLAIN ${sql}`).catch((error: unknown) => String(error))
      : undefined;
    slow.push({ seconds: Number(seconds), rowsExamined, sql: sql.slice(0, MAX_SQL), plan });
  }
  return slow;
}

/** Markdown tables of the rows, the jobs and the commands. */
export function yearTables({ months, commands }: YearFigures): string {
  const shown = COLUMNS.map((number) => months[number - 1]).filter((month) => month !== undefined);
  const last = months.at(-1);
  const names = Object.keys(last?.rows ?? {}).filter((name) => (last?.bytes[name] ?? 0) > 0);
  const growth = names
    .map((name) => ({ name, bytes: last?.bytes[name] ?? 0 }))
    .toSorted((one, other) => other.bytes - one.bytes)
    .map(({ name, bytes }) => [
      `\`${name}\``,
      ...shown.map(({ rows }) => rows[name] ?? 0),
      Math.ceil(bytes / 1_000_000),
    ]);
  const jobs = shown.map(({ http, seconds, deleted }, index) => [
    COLUMNS[index] ?? '',
    Math.round(http.requests / http.seconds),
    ...[seconds.rollUp, seconds.reset, seconds.reconcile, seconds.prune].map((time) =>
      time.toFixed(1),
    ),
    deleted,
  ]);
  const slow = commands.filter(({ seconds }) => seconds >= SLOW_SECONDS);
  const timed = slow.map(({ command, seconds }) => [`\`${command}\``, seconds.toFixed(1)]);
  const others = `The other ${commands.length - slow.length} runs of commands took less than a second each.`;
  return [
    table(['table', ...COLUMNS.map((number) => `rows, month ${number}`), 'MB'], growth),
    table(
      [
        'month',
        'HTTP requests/s',
        '`usage rollup` s',
        '`quota reset` s',
        '`quota reconcile` s',
        '`prune` s',
        'rows pruned',
      ],
      jobs,
    ),
    table(['command', 's'], timed),
    others,
  ].join('\n\n');
}

function table(head: readonly string[], rows: readonly (string | number)[][]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
