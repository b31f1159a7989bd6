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

/** The same. @throws when there is none */
export function serverOn(port: number): number {
  const pid = processOnPort(port);
  if (pid === undefined) throw new Error(`No mysqld with --port=${port} runs on this machine.`);
  return pid;
}
