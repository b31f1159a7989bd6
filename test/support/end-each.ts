type End = () => Promise<unknown> | undefined;

/**
 * Ends what a test started, one after the other, the last that was started first. The next one is ended also where one fails.
 * @throws what the first one that failed threw
 */
export async function endEach(...ends: readonly End[]): Promise<void> {
  const failures: unknown[] = [];
  for (const end of ends) {
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
