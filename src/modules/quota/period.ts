/** A UTC calendar month, written `2026-11`: the unit in which publishing is metered. */
export type Period = string;

export function periodOf(time: Date): Period {
  return time.toISOString().slice(0, 7);
}

/** The first moment of the month that `time` is in. */
export function periodStart(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));
}

/** The first moment of the month after the one that `time` is in. */
export function nextPeriodStart(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1));
}

export function previousPeriod(time: Date): Period {
  return periodOf(new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() - 1)));
}

/** The first moments of a month and of the one after it. */
export function rangeOf(period: Period): { from: Date; to: Date } {
  const from = new Date(`${period}-01T00:00:00.000Z`);
  return { from, to: nextPeriodStart(from) };
}
