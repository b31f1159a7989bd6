/** Errors of units of work whose end was sent, and not answered well. */
const unheard = new WeakSet<object>();

/** @param error what a unit of work failed with after its COMMIT was sent */
export function noteUnheardCommit(error: unknown): void {
  if (typeof error === 'object' && error !== null) unheard.add(error);
}

/** Whether the unit of work that failed with this error may be committed all the same: the database was lost at its very end. */
export function mayBeCommitted(error: unknown): boolean {
  return typeof error === 'object' && error !== null && unheard.has(error);
}
