/** An operation with its start and end by `performance.now()`. */
export interface Done {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A state after some of the operations, with the remaining ones. */
interface Open<S, D> {
  state: S;
  left: readonly D[];
}

/**
 * Checks linearizability: whether each concurrent operation can have taken effect at one moment between its start and its end.
 * @param states possible initial states; all states are plain JSON
 * @param step applies an operation to a state; returns null when the response is impossible in this state
 * @returns the possible final states; none when no order explains the responses
 */
export function explanations<S, D extends Done>(
  states: readonly S[],
  done: readonly D[],
  step: (state: S, one: D) => S | null,
): S[] {
  let open: Open<S, D>[] = states.map((state) => ({ state, left: done }));
  for (let count = 0; count < done.length; count += 1)
    open = distinct(
      open.flatMap((one) => next(one, step)),
      done,
    );
  return open.map(({ state }) => state);
}

/** Applies each operation that can be the first of the remaining ones: none of the others ended before it began. */
function next<S, D extends Done>(
  { state, left }: Open<S, D>,
  step: (state: S, one: D) => S | null,
): Open<S, D>[] {
  return left.flatMap((first) => {
    if (left.some(({ endedAt }) => endedAt < first.startedAt)) return [];
    const after = step(state, first);
    return after === null ? [] : [{ state: after, left: left.filter((one) => one !== first) }];
  });
}

function distinct<S, D>(open: readonly Open<S, D>[], done: readonly D[]): Open<S, D>[] {
  const known = new Map(
    open.map((one) => {
      const places = one.left.map((each) => done.indexOf(each));
      return [JSON.stringify([places, one.state]), one];
    }),
  );
  return [...known.values()];
}
