/**
 * What `work` costs this process, so the application and its client, but no database server: milliseconds of processor time,
 * which other programs do not prolong.
 */
export async function processorTimeOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
