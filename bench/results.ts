import type { Round } from './measure.js';
import { SERVICE } from './programs.js';

/** Rounds by workload, and there by program. */
export type Results = Record<string, Record<string, Round[]>>;

/** For each workload our answers a second, and how many times as many that is as each peer's: medians of the rounds. */
export function ratiosOf(results: Results): Record<string, Record<string, number>> {
  return Object.fromEntries(
    Object.entries(results).map(([workload, programs]) => {
      const { [SERVICE]: ours = [], ...peers } = programs;
      const rate = median(ours.map((round) => round.rate));
      const ratios = Object.entries(peers).map(([peer, rounds]) => [
        peer,
        Number(median(ratiosByRound(ours, rounds)).toFixed(2)),
      ]);
      return [workload, { [SERVICE]: Math.round(rate), ...Object.fromEntries(ratios) }];
    }),
  );
}

/** A Markdown table. */
export function tableOf(results: Results): string {
  const rows = Object.entries(results).flatMap(([workload, programs]) =>
    Object.entries(programs).map(([program, rounds]) =>
      row(workload, program, rounds, programs[SERVICE] ?? []),
    ),
  );
  return [
    '| workload | program | answers/s | ours ÷ it (spread) | p50 ms | p99 ms | its µs | database µs |',
    '|---|---|--:|--:|--:|--:|--:|--:|',
    ...rows,
  ].join('\n');
}

function row(workload: string, program: string, rounds: Round[], ours: Round[]): string {
  const of = (value: (round: Round) => number | undefined): string => {
    const values = rounds.map(value).filter((one) => one !== undefined);
    return values.length === 0 ? '–' : String(Math.round(median(values) * 10) / 10);
  };
  const cells = [
    workload,
    program,
    Math.round(median(rounds.map(({ rate }) => rate))),
    program === SERVICE ? '' : besideOurs(ratiosByRound(ours, rounds)),
    of(({ p50 }) => p50),
    of(({ p99 }) => p99),
    of(({ programMicros }) => programMicros),
    of(({ databaseMicros }) => databaseMicros),
  ];
  return `| ${cells.join(' | ')} |`;
}

function besideOurs(ratios: readonly number[]): string {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map((one) => one.toFixed(2));
  return `${median(ratios).toFixed(2)} (${least}–${most})`;
}

/** Each round of ours is compared with the peer's that followed it. */
function ratiosByRound(ours: readonly Round[], theirs: readonly Round[]): number[] {
  return ours.map(({ rate }, at) => rate / (theirs[at]?.rate ?? Number.NaN));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
