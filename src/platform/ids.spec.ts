import { idPattern, isAnyId, isId, newId, timeOf } from './ids.js';

/** The hexadecimal digits of the UUID in an id. */
function uuidOf(id: string): string {
  const digits = Array.from(id.slice(-26), (digit) =>
    '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(digit),
  );
  const uuid = digits.reduce((value, digit) => value * 32n + BigInt(digit), 0n);
  return uuid.toString(16).padStart(32, '0');
}

describe('Ids', () => {
  const now = new Date('2026-11-21T09:30:00.000Z');

  it('have the prefix and 26 characters, and are unique', () => {
    const ids = Array.from({ length: 1000 }, () => newId('post', now));
    for (const id of ids) expect(id).toMatch(idPattern('post'));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('contain a UUID of version 7 and variant 2, with the creation time (RFC 9562 §5.7)', () => {
    const uuids = Array.from({ length: 100 }, () => uuidOf(newId('svc_app', now)));
    const time = now.getTime().toString(16).padStart(12, '0');
    for (const uuid of uuids) expect(uuid).toMatch(new RegExp(`^${time}7.{3}[89ab].{15}$`));
  });

  it('name their creation time', () => {
    expect(timeOf(newId('svc_app', now))).toEqual(now);
    // An example of the specification: 01890a5d-ac96-774b-bcce-b302099a8057.
    expect(timeOf('prefix_01h455vb4pex5vsknk084sn02q')).toEqual(new Date(0x01890a5dac96));
    expect(() => timeOf(`post_8${'0'.repeat(25)}`)).toThrow('is not a TypeID');
  });

  it('of test apps are client ids, too', () => {
    const id = newId('svc_app_test', now);
    expect([isId('svc_app', id), isId('svc_app_test', id), isAnyId(id)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(isId('svc_app_test', newId('svc_app', now))).toBe(false);
    expect(isId('svc_app', id.replace('_test_', '_test_test_'))).toBe(false);
    expect(id.length).toBeLessThanOrEqual(40);
    expect(timeOf(id)).toEqual(now);
  });

  it('sort by creation time', () => {
    const times = [0, 1, 1000, 86_400_000].map((later) => new Date(now.getTime() + later));
    const ids = times.map((time) => newId('cmt', time));
    expect(ids.toSorted((left, right) => (left < right ? -1 : 1))).toEqual(ids);
  });

  it.each([
    ['upper case', newId('post', now).toUpperCase()],
    ['another prefix', newId('usr', now)],
    ['a trailing space', `${newId('post', now)} `],
    ['a trailing line break', `${newId('post', now)}\n`],
    ['a letter outside of the alphabet', `post_${'i'.repeat(26)}`],
    ['more than 128 bits', `post_8${'0'.repeat(25)}`],
    ['a number instead of text', 5],
  ])('are invalid with %s', (_, value) => {
    expect(isId('post', value)).toBe(false);
  });
});
