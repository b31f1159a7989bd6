import { addMilliseconds, DAY, HOUR, MINUTE, SECOND } from '../platform/clock.js';
import { relativeTime, terminalTime } from './times.js';

const NOW = new Date('2026-11-20T09:30:00.000Z');

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
    [-999, 'now'],
    [-90 * SECOND, 'in 1 min'],
    [-DAY, 'in 1 day'],
    [-10 * DAY, 'in 10 days'],
  ])('names the largest unit, rounded down: %d ms ago is "%s"', (milliseconds, text) => {
    expect(relativeTime(addMilliseconds(NOW, -milliseconds), NOW)).toBe(text);
  });
});

describe('terminalTime', () => {
  it('shows UTC to the second, and the relative time', () => {
    const time = new Date('2026-11-20T09:26:59.500Z');
    expect(terminalTime(time, NOW)).toBe('2026-11-20T09:26:59Z (3 min ago)');
  });
});
