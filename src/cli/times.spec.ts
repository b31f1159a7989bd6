import { relativeTime, terminalTime } from './times.js';

const NOW = new Date('2026-11-20T09:30:00.000Z');
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function before(milliseconds: number): Date {
  return new Date(NOW.getTime() - milliseconds);
}

describe('relativeTime', () => {
  it.each([
    [0, 'now'],
    [999, 'now'],
    [SECOND, '1 s ago'],
    [MINUTE - 1, '59 s ago'],
    [MINUTE, '1 min ago'],
    [3 * MINUTE + 59 * SECOND, '3 min ago'],
    [HOUR - 1, '59 min ago'],
    [HOUR, '1 h ago'],
    [DAY - 1, '23 h ago'],
    [DAY, '1 day ago'],
    [30 * DAY, '30 days ago'],
    [31 * DAY, '1 month ago'],
    [62 * DAY, '2 months ago'],
    [365 * DAY, '11 months ago'],
    [366 * DAY, '1 year ago'],
    [800 * DAY, '2 years ago'],
  ])('names the largest unit, rounded down: %d ms ago is "%s"', (milliseconds, text) => {
    expect(relativeTime(before(milliseconds), NOW)).toBe(text);
  });

  it.each([
    [999, 'now'],
    [90 * SECOND, 'in 1 min'],
    [DAY, 'in 1 day'],
    [10 * DAY, 'in 10 days'],
  ])('names a time in the future: after %d ms is "%s"', (milliseconds, text) => {
    expect(relativeTime(before(-milliseconds), NOW)).toBe(text);
  });
});

describe('terminalTime', () => {
  it('shows UTC to the second, and the relative time', () => {
    const time = new Date('2026-11-20T09:26:59.500Z');
    expect(terminalTime(time, NOW)).toBe('2026-11-20T09:26:59Z (3 min ago)');
  });
});
