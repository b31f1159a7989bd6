import * as fc from 'fast-check';

/** The usual value so many times as often as any of the rare ones. What is shrunk is usual. */
export function mostly<const T, const R>(
  usual: T,
  weight: number,
  ...rare: readonly R[]
): fc.Arbitrary<T | R> {
  return fc.oneof(
    { weight, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  );
}
