import { Command } from 'commander';
import { parsePositiveInteger } from '../options.js';
import { startServer, type BenchServer } from '../server.js';
import { writeResults } from '../write-results.js';
import { measureEvents } from './events.js';
import { measureFlatness } from './flatness.js';
import { measureHotApp } from './hot-app.js';
import { measureLean } from './lean.js';
import { measureProcesses, type ProcessFigures } from './processes.js';
import { eventTables, flatTable, hotTable, leanTable, processesTable } from './tables.js';

interface Options {
  part?: string[];
  events: number;
  posts: number;
  requests: number;
  server?: string;
  write?: true;
}

/** The figures of a part, and a Markdown table of them. */
type PartResult = [figures: unknown, table: string];

const PARTS: Record<string, (server: BenchServer, options: Options) => Promise<PartResult>> = {
  flat: async (server, { posts }) => {
    const size = { posts, comments: Math.ceil(posts / 10) };
    const figures = await measureFlatness(server, size);
    return [figures, flatTable(figures)];
  },
  hot: async (server) => {
    const figures = await measureHotApp(server);
    return [figures, hotTable(figures)];
  },
  lean: async (server, { requests }) => {
    const figures = await measureLean(server, requests);
    return [figures, leanTable(figures)];
  },
  out: async (server) => {
    const figures: ProcessFigures[] = [];
    for (const count of [1, 2, 4]) figures.push(await measureProcesses(server, count));
    return [figures, processesTable(figures)];
  },
  events: async (server, { events }) => {
    const figures = await measureEvents(server, events);
    return [figures, eventTables(figures)];
  },
};

async function measure(options: Options): Promise<void> {
  const server = await startServer(options.server);
  try {
    for (const [name, part] of Object.entries(PARTS)) {
      if (options.part && !options.part.includes(name)) continue;
      const [figures, table] = await part(server, options);
      process.stdout.write(`${table}\n\n`);
      const command = `npm run bench:scale -- --part ${name}`;
      if (options.write)
        await writeResults(name, { command, server: server.version }, figures, table);
    }
  } finally {
    await server.stop();
  }
}

await new Command('npm run bench:scale --')
  .description(
    'Measure large tables (flat), one busy app (hot), start and memory (lean), several processes (out), and the delivery of events (events).',
  )
  .option('--part <names...>', `run only these parts: ${Object.keys(PARTS).join(', ')}`)
  .option('--posts <n>', 'number of posts in the large tables', parsePositiveInteger, 10_000_000)
  .option(
    '--requests <n>',
    'number of requests of the memory measurement',
    parsePositiveInteger,
    1_000_000,
  )
  .option('--events <n>', 'number of delivered events', parsePositiveInteger, 10_000_000)
  .option('--server <url>', 'use this MySQL or MariaDB server instead of starting one')
  .option('--write', 'write the results to bench/results and docs/performance.md')
  .action(measure)
  .parseAsync();
