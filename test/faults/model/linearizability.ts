/** An operation with its start and end by `performance.now()`. */
export interface TimedOperation {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A state after some of the operations, with the remaining ones. */
interface Candidate<S, D> {
  state: S;
  remaining: readonly D[];
}

/**
 * Checks linearizability: whether each concurrent operation can have taken effect at one moment between its start and its end.
 * @param states possible initial states; all states are plain JSON
 * @param step applies an operation to a state; returns null when the response is impossible in this state
 * @returns the possible final states; none when no order explains the responses
 */
export function linearizations<S, D extends TimedOperation>(
  states: readonly S[],
  done: readonly D[],
  step: (state: S, one: D) => S | null,
): S[] {
  let candidates: Candidate<S, D>[] = states.map((state) => ({ state, remaining: done }));
  for (let count = 0; count < done.length; count += 1)
    candidates = distinct(
      candidates.flatMap((one) => next(one, step)),
      done,
    );
  return candidates.map(({ state }) => state);
}

/** Applies each operation that can be the first of the remaining ones: none of the others ended before it began. */
function next<S, D extends TimedOperation>(
  { state, remaining }: Candidate<S, D>,
  step: (state: S, one: D) => S | null,
): Candidate<S, D>[] {
  return remaining.flatMap((first) => {
    if (remaining.some(({ endedAt }) => endedAt < first.startedAt)) return [];
    const after = step(state, first);
    return after === null
      ? []
      : [{ state: after, remaining: remaining.filter((one) => one !== first) }];
  });
}

function distinct<S, D>(
  candidates: readonly Candidate<S, D>[],
  done: readonly D[],
): Candidate<S, D>[] {
  const known = new Map(
    candidates.map((one) => {
      const indexes = one.remaining.map((each) => done.indexOf(each));
      return [JSON.stringify([indexes, one.state]), one];
    }),
  );
  return [...known.values()];
}
