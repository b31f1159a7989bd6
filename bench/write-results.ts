import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

const FOLDER = 'bench/results';
const PAGE = 'docs/performance.md';
const GIGABYTE = 2 ** 30;

/** The environment of a measurement. */
export interface MeasurementContext {
  /** The command that ran the measurement. */
  command: string;
  /** Version of the database server. */
  server: string;
}

/**
 * Writes the figures of a measurement to `bench/results/<name>.json`, and the tables to docs/performance.md, between the comments
 * `<!-- name -->` and `<!-- end of name -->`.
 * @param name of the measurement, such as `bench`
 */
export async function writeResults(
  name: string,
  { command, server }: MeasurementContext,
  figures: unknown,
  tables: string,
): Promise<void> {
  const processors = cpus();
  const machine = `${processors.length} × ${processors[0]?.model.trim()}, ${Math.round(totalmem() / GIGABYTE)} GB`;
  const date = new Date().toISOString().slice(0, 10);
  const context = { date, command, machine, node: process.version, server };
  await mkdir(FOLDER, { recursive: true });
  const json = JSON.stringify({ ...context, figures }, null, 2);
  await writeFile(join(FOLDER, `${name}.json`), `${json}\n`);
  const caption = `Made by \`${command}\` on ${date}: ${machine}, Node ${process.version}, ${server}.`;
  const page = await readFile(PAGE, 'utf8');
  const begin = `<!-- ${name} -->`;
  const end = `<!-- end of ${name} -->`;
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined)
    throw new Error(`${PAGE} has no comments <!-- ${name} --> and <!-- end of ${name} -->.`);
  await writeFile(PAGE, `${before}${begin}\n\n${caption}\n\n${tables}\n\n${end}${after}`);
}
