/** For an update that only locks: the value that the column has. `column` is SQL, not a property. */
export function unchanged(column: string): () => string {
  return () => column;
}
