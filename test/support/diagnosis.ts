import type { CommandLine, Outcome } from './command-line.js';

export interface ToldFinding {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  summary: string;
  remedy?: string;
}

/** What "doctor --json" has found. @throws when its exit code does not go with that */
export async function diagnosis(cli: CommandLine, ...args: string[]): Promise<ToldFinding[]> {
  return findingsIn(await cli.run('doctor', '--json', ...args));
}

/** @throws as `diagnosis` */
export function findingsIn({ code, stdout, stderr }: Outcome): ToldFinding[] {
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: ToldFinding[] };
  const failures = findings.filter(({ status }) => status === 'failed').length;
  const sentence = failures === 1 ? '1 check failed.\n' : `${failures} checks failed.\n`;
  const expected = failures === 0 ? [true, 0, ''] : [false, 1, sentence];
  if (JSON.stringify([ok, code, stderr]) !== JSON.stringify(expected))
    throw new Error(`It ended with ${code}: ${stderr}${stdout}`);
  return findings;
}
