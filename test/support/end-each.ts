type End = () => Promise<unknown> | undefined;

/**
 * Ends what a test started, in this order, the next one also where one fails.
 * @throws what the first that failed threw
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
