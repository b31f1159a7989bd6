import { InvalidRequest } from '../common/errors.js';

const DEEPEST = 20;

/**
 * Refuses what later, recursive code could not take: bodies nested deeper than 20 levels, and inside of fields members
 * that are named like what every object inherits, which libraries call or drop. Walks without recursion.
 * @throws InvalidRequest
 */
export function assertShallow(body: object): void {
  const open: { value: object; depth: number }[] = [{ value: body, depth: 1 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (depth > DEEPEST) {
      throw InvalidRequest.field(
        '',
        'too_deep',
        `The body must not be nested deeper than ${DEEPEST} levels.`,
      );
    }
    for (const [name, member] of Object.entries(value)) {
      if (depth > 1 && (name in Object.prototype || name === 'prototype')) {
        throw InvalidRequest.field(name, 'unknown_field', `"${name}" is not a field of this body.`);
      }
      if (typeof member === 'object' && member !== null)
        open.push({ value: member, depth: depth + 1 });
    }
  }
}
