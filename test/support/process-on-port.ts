import { readdirSync, readFileSync } from 'node:fs';

/** The id of the process that runs MySQL's server with this port, also within another root. */
export function processOnPort(port: number): number | undefined {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const pid = processes.find((name) => {
    try {
      const [program = '', ...options] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return program.endsWith('mysqld') && options.includes(`--port=${port}`);
    } catch {
      // It ended meanwhile.
      return false;
    }
  });
  return pid === undefined ? undefined : Number(pid);
}
