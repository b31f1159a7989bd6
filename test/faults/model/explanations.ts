/** Something that was done between two moments, as `performance.now()` tells them. */
export interface Done {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A state after some of it was done, and what of it is left. */
interface Open<S, D> {
  state: S;
  left: readonly D[];
}

/**
 * Whether what was done at once can be explained as if each had been done at one moment between its beginning and its end
 * (it is linearizable).
 * @param states in which it may have begun; they and those that follow are plain JSON
 * @param step what one does to a state; null when it could not have been answered so then
 * @returns the states in which it may have ended; none when no order explains it
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

/** What may have been done first of what is left: not what began after something else had ended. */
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
