import { median } from '../results.js';
import type { Flatness } from './flatness.js';
import type { HotApp } from './hot-app.js';
import type { Lean, Slice } from './lean.js';
import type { Processes } from './processes.js';

/** Markdown tables of what was measured. */

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
  const [alone, together] = [median(one), median(hundred)];
  return table(
    ['posts/s of one app', 'of a hundred apps', 'ratio', 'posts there', 'posts counted'],
    [[alone.toFixed(0), together.toFixed(0), (alone / together).toFixed(2), posts, counted]],
  );
}

export function leanTable({ readySeconds, memory, first }: Lean): string {
  const heads = ['process', 'requests', 'resident MB'];
  const ready = `${median(readySeconds).toFixed(2)} s, at most ${Math.max(...readySeconds).toFixed(2)} s`;
  return table(
    [...heads, 'alive MB', 'timers', 'maps', 'emitters', 'functions'],
    [
      [`ready after ${ready}`, '', '', '', '', '', '', ''],
      leanRow('one', first),
      ...memory.map((slice) => leanRow('another', slice)),
    ],
  );
}

function leanRow(process: string, { requests, megabytes, alive }: Slice): (string | number)[] {
  const counts = alive
    ? [alive.megabytes, alive.timers, alive.maps, alive.emitters, alive.functions]
    : ['', '', '', '', ''];
  return [process, requests, megabytes, ...counts];
}

export function processesTable(rows: readonly Processes[]): string {
  return table(
    [
      'processes',
      'GET /me a second',
      'posts a second',
      'service µs a read',
      'database µs a read',
      'posts there',
      'posts counted',
      'refuse a revoked token at once',
    ],
    rows.map((row) => [
      row.processes,
      row.reads.toFixed(0),
      row.posts.toFixed(0),
      row.serviceMicros ?? '–',
      row.databaseMicros ?? '–',
      row.stored,
      row.counted,
      row.refusals,
    ]),
  );
}

function table(head: readonly string[], rows: readonly (string | number)[][]): string {
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function line(cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`;
}
