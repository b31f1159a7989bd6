import { HOUR, MINUTE, later, startOf } from '../../common/clock.js';

/** A stretch of time that a job runs once for. As text, those of one length sort by time. */
export interface JobPeriod {
  /** Such as `2026-11-21T09` or `2026-11-21T09:30`, in UTC. */
  name: string;
  /** When the next one begins, which has a runner of its own. */
  end: Date;
}

export function hourOf(time: Date): JobPeriod {
  return { name: prefix(time, 'yyyy-mm-ddThh'), end: later(startOf(time, HOUR), HOUR) };
}

export function tenMinutesOf(time: Date): JobPeriod {
  const start = startOf(time, 10 * MINUTE);
  return { name: prefix(start, 'yyyy-mm-ddThh:mm'), end: later(start, 10 * MINUTE) };
}

function prefix(time: Date, shape: string): string {
  return time.toISOString().slice(0, shape.length);
}
