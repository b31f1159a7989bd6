import { median } from '../results.js';
import type { EventFigures } from './events.js';
import type { Flatness } from './flatness.js';
import type { HotApp } from './hot-app.js';
import type { Lean, Slice } from './lean.js';
import type { ProcessFigures, ProcessLoad } from './processes.js';

/** Markdown tables of the results. */

export function flatTable(rows: readonly Flatness[]): string {
  return table(
    ['operation', 'ms, small', 'ms, large', 'large ÷ small'],
    rows.map(({ operation, small, large }) => [
      operation,
      small.toFixed(2),
      large.toFixed(2),
      (large / small).toFixed(2),
    ]),
  );
}

export function hotTable({ one, hundred, posts, counted }: HotApp): string {
  const [oneApp, hundredApps] = [median(one), median(hundred)];
  return table(
    ['posts/s, one app', 'posts/s, 100 apps', 'ratio', 'posts stored', 'posts counted'],
    [
      [
        oneApp.toFixed(0),
        hundredApps.toFixed(0),
        (oneApp / hundredApps).toFixed(2),
        posts,
        counted,
      ],
    ],
  );
}

export function leanTable({ readySeconds, memory, first }: Lean): string {
  const heads = ['process', 'requests', 'RSS MB'];
  const ready = `${median(readySeconds).toFixed(2)} s, at most ${Math.max(...readySeconds).toFixed(2)} s`;
  return table(
    [...heads, 'heap MB', 'timers', 'maps', 'emitters', 'functions'],
    [
      [`ready after ${ready}`, '', '', '', '', '', '', ''],
      leanRow('first', first),
      ...memory.map((slice) => leanRow('second', slice)),
    ],
  );
}

function leanRow(process: string, { requests, megabytes, alive }: Slice): (string | number)[] {
  const counts = alive
    ? [alive.megabytes, alive.timers, alive.maps, alive.emitters, alive.functions]
    : ['', '', '', '', ''];
  return [process, requests, megabytes, ...counts];
}

export function processesTable(rows: readonly ProcessFigures[]): string {
  return table(
    [
      'processes',
      'GET /me/s',
      'CPU µs',
      'database CPU µs',
      'posts/s, with key',
      'CPU µs',
      'database CPU µs',
      'posts stored',
      'posts counted',
      'reject a revoked token at once',
    ],
    rows.map((row) => [
      row.processes,
      ...loadCells(row.reads),
      ...loadCells(row.posts),
      row.stored,
      row.counted,
      row.refusals,
    ]),
  );
}

const ratio = (rate: number, of = NaN): string => (rate / of).toFixed(2);

export function eventTables({ drains, costs, reads }: EventFigures): string {
  const [base] = costs;
  return [
    table(
      ['delivered before', 'due', 'deliveries/s', 'CPU µs', 'database CPU µs'],
      drains.map(({ delivered, due, perSecond, serviceMicros, databaseMicros }) => [
        delivered,
        due,
        perSecond.toFixed(0),
        serviceMicros ?? '–',
        databaseMicros ?? '–',
      ]),
    ),
    table(
      ['endpoints', 'posts/s', '÷ none', 'comments/s', '÷ none'],
      costs.map(({ endpoints, postsPerSecond, commentsPerSecond }) => [
        endpoints,
        postsPerSecond.toFixed(0),
        ratio(postsPerSecond, base?.postsPerSecond),
        commentsPerSecond.toFixed(0),
        ratio(commentsPerSecond, base?.commentsPerSecond),
      ]),
    ),
    table(
      ['beside', 'GET /me/s', 'p50 ms', 'p99 ms'],
      reads.map(({ beside, perSecond, p50, p99 }) => [beside, perSecond.toFixed(0), p50, p99]),
    ),
  ].join('\n\n');
}

function loadCells({ perSecond, serviceMicros, databaseMicros }: ProcessLoad): (string | number)[] {
  return [perSecond.toFixed(0), serviceMicros ?? '–', databaseMicros ?? '–'];
}

function table(head: readonly string[], rows: readonly (string | number)[][]): string {
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function line(cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`;
}
