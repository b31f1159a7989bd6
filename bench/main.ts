import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { findProgram } from '../test/support/programs.js';
import { checkCounters, readCounters } from './counters.js';
import { fillDataSet } from './data-set.js';
import { measureRound, type Round } from './measure.js';
import { parsePositiveInteger } from './options.js';
import { largestCosts } from './profile.js';
import type { Program } from './program.js';
import { BEFORE, SERVICE, startPeer, startService, TOKEN_TABLES } from './programs.js';
import { ratiosOf, tableOf, type Results } from './results.js';
import { writeResults } from './write-results.js';
import { startServer, type BenchServer } from './server.js';
import { SERVICE_TOKENS } from './service-tokens.js';
import { WORKLOADS, type Workload } from './workloads.js';

interface Options {
  seconds: number;
  rounds: number;
  json?: true;
  wrk?: true;
  write?: true;
  workload?: string[];
  peer?: string[];
  against?: string;
  server?: string;
  profile?: string;
}

/** Warm-up of each program before its first round of a workload: V8 needs several seconds to optimize a large program. */
const FIRST_WARM_UP_SECONDS = 8;
/** Warm-up before each later round. */
const WARM_UP_SECONDS = 1;

async function bench(options: Options): Promise<void> {
  const workloads = WORKLOADS.filter(({ name }) => options.workload?.includes(name) ?? true);
  const wrk = options.wrk ? await findProgram('wrk') : undefined;
  if (options.wrk && wrk === undefined)
    throw new Error('wrk is not installed. Install it or omit --wrk.');
  const command = await commandOf(options);
  const server = await startServer(options.server);
  const { url, pool } = await server.database('platform_bench');
  const programs = new Map<string, Program>();
  let responsesOfService = 0;
  try {
    const { profile } = options;
    programs.set(SERVICE, await startService(url, { profile }));
    if (options.against !== undefined)
      programs.set(BEFORE, await startService(url, { name: BEFORE, folder: options.against }));
    const builds = [...programs.keys()];
    const data = await fillDataSet(pool);
    const results: Results = {};
    for (const workload of workloads) {
      const peers = workload.peers.filter((name) => options.peer?.includes(name) ?? true);
      for (const name of peers)
        if (!programs.has(name)) {
          await TOKEN_TABLES[name]?.prepare(pool);
          programs.set(name, await startPeer(name, url));
        }
      const measured = [...builds, ...peers].map((name) => programs.get(name) as Program);
      const rounds: Record<string, Round[]> = {};
      for (let round = 0; round < options.rounds; round += 1)
        for (const program of measured)
          (rounds[program.name] ??= []).push(
            await oneRound(program, workload, { isFirst: round === 0 }),
          );
      results[workload.name] = rounds;
      process.stderr.write(`${tableOf({ [workload.name]: rounds })}\n`);
      // After each workload, so that a later failure loses none.
      if (options.write) {
        const context = { command, server: server.version };
        // Separate tables for the oldest version of Node.js that is supported and for that of the image.
        const name = `bench-${process.versions.node.split('.')[0]}`;
        await writeResults(name, context, results, tableOf(results));
      }
    }
    if (options.json) process.stdout.write(`${JSON.stringify(ratiosOf(results))}\n`);

    async function oneRound(
      program: Program,
      workload: Workload,
      { isFirst }: { isFirst: boolean },
    ): Promise<Round> {
      const tokens = TOKEN_TABLES[program.name] ?? SERVICE_TOKENS;
      const warmUpSeconds = isFirst ? FIRST_WARM_UP_SECONDS : WARM_UP_SECONDS;
      const run = { program: program.name, pool, data, tokens, seconds: options.seconds };
      // Inserts the rows for the measurement before the warm-up, so that the database server flushes them before the measurement.
      const warmUp = await workload.requests({ ...run, seconds: warmUpSeconds });
      const load = await workload.requests(run);
      const counters = workload.counters?.(run) ?? [];
      const before = await readCounters(pool, counters);
      const settings = { wrk, databasePid: server.pid, status: workload.status };
      const { responses } = await measureRound(program, warmUp, warmUpSeconds, settings);
      const measured = await measureRound(program, load, options.seconds, settings);
      if (program.name === SERVICE) responsesOfService += responses + measured.responses;
      await checkCounters(pool, counters, before, responses + measured.responses);
      return measured;
    }
  } finally {
    await stopAll([...programs.values()], server);
  }
  if (options.profile !== undefined)
    process.stderr.write(`${await largestCosts(options.profile, responsesOfService)}\n`);
}

/** The command for the caption of the results, with the version instead of the folder of the other build. */
async function commandOf({ seconds, rounds, against }: Options): Promise<string> {
  const command = `npm run bench -- --seconds ${seconds} --rounds ${rounds}`;
  if (against === undefined) return command;
  const { version } = JSON.parse(await readFile(join(against, 'package.json'), 'utf8')) as {
    version: string;
  };
  return `${command} --against ${version}`;
}

async function stopAll(programs: Program[], server: BenchServer): Promise<void> {
  await Promise.all(programs.map((program) => program.stop()));
  await server.stop();
}

await new Command('npm run bench --')
  .description(
    'Measure the throughput and latency of the service and of alternative implementations (peers).',
  )
  .option('--seconds <n>', 'duration of each measurement', parsePositiveInteger, 10)
  .option('--rounds <n>', 'number of measurements of each program', parsePositiveInteger, 3)
  .option(
    '--workload <names...>',
    `run only these workloads: ${WORKLOADS.map(({ name }) => name).join(', ')}`,
  )
  .option('--peer <names...>', 'compare only with these peers')
  .option(
    '--against <folder>',
    `compare also with the build of the service in another checkout, as the peer ${BEFORE}`,
  )
  .option('--server <url>', 'use this MySQL or MariaDB server instead of starting one')
  .option(
    '--profile <folder>',
    'write a CPU profile of the service to this folder, and print its largest costs',
  )
  .option('--wrk', 'use wrk instead of autocannon where possible')
  .option('--write', 'write the results to bench/results and docs/performance.md')
  .option('--json', 'print the ratios as one JSON object')
  .action(bench)
  .parseAsync();
