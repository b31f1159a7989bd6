import type { User } from '../../users/user.entity.js';
import { newUser } from '../../users/users.service.js';
import * as fc from 'fast-check';
import { decide, decideMoves, type ImportedUser } from './imported-user.js';

const NOW = new Date('2026-11-26T10:00:00Z');

function stored(values: Pick<User, 'name'> & Partial<User>): User {
  return { ...newUser({ phone: '+14155550101', name: values.name }, NOW), ...values };
}

const ANA = stored({ name: 'Ana Lee' });
const ANA_WITH_ID = stored({ name: 'Ana Lee', externalId: 'm-1' });
const ANA_WITHOUT_PHONE = stored({ name: 'Ana Lee', externalId: 'm-1', phone: null });
const BEN = stored({ name: 'Ben', externalId: 'm-2', phone: '+14155550102' });

function line(name: string, externalId?: string, phone = '+14155550101'): ImportedUser {
  return { phone, name, ...(externalId !== undefined && { externalId }) };
}

/** The outcome and, in parentheses, the user who gets the phone number or the new values. */
function outcome(imported: ImportedUser, users: readonly User[], mayReassign: boolean): string {
  const decision = decide(imported, users, mayReassign);
  if (decision.outcome === 'update') return `update (${decision.fields.join(' ') || 'nothing'})`;
  if (decision.outcome === 'change_phone')
    return `change_phone (${decision.user?.externalId ?? 'new user'})`;
  return decision.outcome;
}

describe('decide', () => {
  it.each([
    ['a new phone', line('Ana Lee'), [], 'add'],
    ['a new phone and id', line('Ana Lee', 'm-1'), [], 'add'],
    ['a known phone and name', line('Ana Lee'), [ANA], 'update (nothing)'],
    ['another spelling', line('ANA  LEE'), [ANA], 'update (name)'],
    ['the first id of a user', line('Ana Lee', 'm-1'), [ANA], 'update (externalId)'],
    ['no id for a user with one', line('Ana Lee'), [ANA_WITH_ID], 'update (nothing)'],
    ['another name for a known id', line('Ana Ortiz', 'm-1'), [ANA_WITH_ID], 'update (name)'],
    ['a new phone for a known id', line('Ben', 'm-2'), [BEN], 'change_phone (m-2)'],
    [
      'a phone for a user without',
      line('Ana Lee', 'm-1'),
      [ANA_WITHOUT_PHONE],
      'change_phone (m-1)',
    ],
    ['the name of another user', line('Ben', undefined, '+14155550109'), [BEN], 'add'],
  ] as const)('%s, with and without reassignment', (_title, imported, users, expected) => {
    expect(outcome(imported, users, false)).toBe(expected);
    expect(outcome(imported, users, true)).toBe(expected);
  });

  it.each([
    ['another name without an id', line('Eve'), [ANA], 'new user'],
    ['another name for a user with an id', line('Eve'), [ANA_WITH_ID], 'new user'],
    ['another name with a new id', line('Eve', 'm-9'), [ANA], 'new user'],
    ['the same name with another id', line('Ana Lee', 'm-9'), [ANA_WITH_ID], 'new user'],
    ['the phone of another member', line('Ben', 'm-2'), [ANA, BEN], 'm-2'],
  ] as const)('refuses %s without reassignment', (_title, imported, users, newOwner) => {
    expect(outcome(imported, users, false)).toBe('refuse');
    expect(outcome(imported, users, true)).toBe(`change_phone (${newOwner})`);
  });

  it.each([
    [
      line('Eve'),
      [ANA],
      `phone belongs to ${ANA.id}, who has another name. If it is the same person, change the name with "user update ${ANA.id}".`,
    ],
    [
      line('Ana Lee', 'm-2'),
      [ANA, BEN],
      `external_id belongs to ${BEN.id}, but phone to ${ANA.id}.`,
    ],
    [
      line('Ana Lee', 'm-9'),
      [ANA_WITH_ID],
      `phone belongs to ${ANA_WITH_ID.id}, who has another external_id.`,
    ],
  ])('says how to rename a user, and how to reassign a number', (imported, users, reason) => {
    const advice = 'If the number belongs to another person now, use --reassign-phones.';
    const problem = `${reason} ${advice}`;
    expect(decide(imported, users, false)).toEqual({ outcome: 'refuse', problem });
  });
});

describe('decideMoves', () => {
  const phoneOf = (number: number): string => `+1415555${2000 + number}`;
  const members = [1, 2, 3, 4].map((number) =>
    stored({ name: `Person ${number}`, externalId: `m-${number}`, phone: phoneOf(number) }),
  );
  /** A member, and the number of the phone that the line gives to the member. */
  type Move = readonly [member: number, phone: number];
  const linesOf = (moves: readonly Move[]) =>
    moves.map(([member, phone], index) => ({
      line: index + 2,
      user: line(`Person ${member}`, `m-${member}`, phoneOf(phone)),
    }));
  const outcomes = (moves: readonly Move[], mayReassign: boolean): Record<string, string> =>
    Object.fromEntries(
      decideMoves(linesOf(moves), members, mayReassign).map(({ user, decision }) => [
        user.externalId,
        decision.outcome,
      ]),
    );

  it('O163 moves a chain that ends with a free number, in any order of the lines, from its end', () => {
    const chain: readonly Move[] = [
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 9],
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray([...chain], { minLength: 4 }), (moves) => {
        const decided = decideMoves(linesOf(moves), members, false);
        expect(decided.map(({ user }) => user.externalId)).toEqual(['m-4', 'm-3', 'm-2', 'm-1']);
        for (const { decision } of decided) expect(decision.outcome).toBe('change_phone');
      }),
    );
  });

  it.each<[string, readonly Move[]]>([
    ['a number that its owner keeps', [[1, 2]]],
    [
      'a chain that ends with such a number',
      [
        [1, 2],
        [2, 3],
      ],
    ],
    [
      'an exchange',
      [
        [1, 2],
        [2, 1],
      ],
    ],
    [
      'a circle',
      [
        [1, 2],
        [2, 3],
        [3, 1],
      ],
    ],
  ])('O163 refuses %s without reassignment', (_, moves) => {
    for (const order of [moves, moves.toReversed()]) {
      expect(new Set(Object.values(outcomes(order, false)))).toEqual(new Set(['refuse']));
      expect(new Set(Object.values(outcomes(order, true)))).toEqual(new Set(['change_phone']));
    }
  });

  it('O163 gives a number that becomes free to a new user', () => {
    const lines = [{ line: 2, user: line('Eve', 'm-7', phoneOf(1)) }, ...linesOf([[1, 9]])];
    expect(decideMoves(lines, members, false).map(({ decision }) => decision.outcome)).toEqual([
      'change_phone',
      'add',
    ]);
  });
});
