import type { Round } from './measure.js';
import { SERVICE } from './programs.js';

/** Rounds by workload and program. */
export type Results = Record<string, Record<string, Round[]>>;

/** For each workload, the responses per second of the service and its ratio to each peer; medians of the rounds. */
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
    '| workload | program | requests/s | ours ÷ peer (min–max) | p50 ms | p99 ms | CPU µs | database CPU µs |',
    '|---|---|--:|--:|--:|--:|--:|--:|',
    ...rows,
  ].join('\n');
}

function row(workload: string, program: string, rounds: Round[], ours: Round[]): string {
  const medianOf = (figure: (round: Round) => number | undefined): string => {
    const values = rounds.map(figure).filter((one) => one !== undefined);
    return values.length === 0 ? '–' : String(Math.round(median(values) * 10) / 10);
  };
  const cells = [
    workload,
    program,
    Math.round(median(rounds.map(({ rate }) => rate))),
    program === SERVICE ? '' : formatRatios(ratiosByRound(ours, rounds)),
    medianOf(({ p50 }) => p50),
    medianOf(({ p99 }) => p99),
    medianOf(({ programMicros }) => programMicros),
    medianOf(({ databaseMicros }) => databaseMicros),
  ];
  return `| ${cells.join(' | ')} |`;
}

function formatRatios(ratios: readonly number[]): string {
  const [min, max] = [Math.min(...ratios), Math.max(...ratios)].map((one) => one.toFixed(2));
  return `${median(ratios).toFixed(2)} (${min}–${max})`;
}

/** Compares each round of the service with the round of the peer that was measured right after it. */
function ratiosByRound(ours: readonly Round[], theirs: readonly Round[]): number[] {
  return ours.map(({ rate }, round) => rate / (theirs[round]?.rate ?? Number.NaN));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
