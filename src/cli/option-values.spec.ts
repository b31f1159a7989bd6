import { parseStatus, parseTime } from './option-values.js';

const NOW = new Date('2026-11-21T09:30:00.000Z');

describe('parseTime', () => {
  it.each([
    ['90m', '2026-11-21T08:00:00.000Z'],
    ['today', '2026-11-21T00:00:00.000Z'],
    ['Yesterday', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T09:30Z', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T09:30', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20 09:30:15', '2026-11-20T09:30:15.000Z'],
    ['2026-11-20T09:30+01:00', '2026-11-20T08:30:00.000Z'],
    ['2026-11-20T23:30:00.5-0530', '2026-11-21T05:00:00.500Z'],
  ])('accepts %s', (input, time) => {
    expect(parseTime(input)(NOW).toISOString()).toBe(time);
  });

  it.each([
    '',
    'tomorrow',
    '24',
    '2026-02-30',
    '2026-02-30T10:00Z',
    '2026-11-20T24:00Z',
    '2026-13-01',
  ])('rejects "%s"', (input) => {
    expect(() => parseTime(input)).toThrow('It must be an age such as 24h or 30d, today,');
  });
});

describe('parseStatus', () => {
  it('accepts a status and a class', () => {
    expect(parseStatus('429')).toEqual([429, 429]);
    expect(parseStatus('4xx')).toEqual([400, 499]);
    expect(() => parseStatus('600')).toThrow('It must be a status');
  });
});
