import { SeenPhones } from './user-import.service.js';

describe('Phones that were seen', () => {
  it('are known by the line that had them first, however many they are', () => {
    const seen = new SeenPhones();
    const phoneOf = (at: number): string => `+${1_415_200_0000 + at * 7}`;
    for (let line = 0; line < 50_000; line += 1)
      expect(seen.note(phoneOf(line), line)).toBeUndefined();
    for (let line = 0; line < 50_000; line += 1) expect(seen.note(phoneOf(line), 99)).toBe(line);
  });

  it('are told apart to the last of 15 digits', () => {
    const seen = new SeenPhones();
    expect(seen.note('+999999999999998', 1)).toBeUndefined();
    expect(seen.note('+999999999999999', 2)).toBeUndefined();
    expect(seen.note('+999999999999998', 3)).toBe(1);
  });
});
