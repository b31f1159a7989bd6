import { Command } from 'commander';
import { findProgram } from '../test/support/programs.js';
import { fillDataSet } from './data-set.js';
import type { Requests } from './load/requests.js';
import { measureRound, type Round } from './measure.js';
import { positive } from './options.js';
import type { Program } from './program.js';
import { SERVICE, startByName, TOKENS } from './programs.js';
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
  server?: string;
  profile?: string;
}

/** Until the compiler has seen enough of a program; the rounds after the first begin warm. */
const WARM_SECONDS = 8;
const WARM_AGAIN_SECONDS = 1;

async function bench(options: Options): Promise<void> {
  const workloads = WORKLOADS.filter(({ name }) => options.workload?.includes(name) ?? true);
  const wrk = options.wrk ? await findProgram('wrk') : undefined;
  if (options.wrk && wrk === undefined) throw new Error('wrk is not installed.');
  const server = await startServer(options.server);
  const { url, pool } = await server.database('platform_bench');
  const programs = new Map<string, Program>();
  try {
    programs.set(SERVICE, await startByName(SERVICE, url, profiling(options.profile)));
    const data = await fillDataSet(pool);
    const results: Results = {};
    for (const workload of workloads) {
      const peers = workload.peers.filter((name) => options.peer?.includes(name) ?? true);
      for (const name of peers)
        if (!programs.has(name)) {
          await TOKENS[name]?.prepare(pool);
          programs.set(name, await startByName(name, url));
        }
      const contestants = [SERVICE, ...peers].map((name) => programs.get(name) as Program);
      const rounds: Record<string, Round[]> = {};
      for (let round = 0; round < options.rounds; round += 1)
        for (const program of contestants)
          (rounds[program.name] ??= []).push(await oneRound(program, workload, round === 0));
      results[workload.name] = rounds;
      process.stderr.write(`${tableOf({ [workload.name]: rounds })}\n`);
    }
    if (options.write) {
      const command = `npm run bench -- --seconds ${options.seconds} --rounds ${options.rounds}`;
      await writeResults('bench', { command, server: server.version }, results, tableOf(results));
    }
    if (options.json) process.stdout.write(`${JSON.stringify(ratiosOf(results))}\n`);

    async function oneRound(
      program: Program,
      workload: Workload,
      isFirst: boolean,
    ): Promise<Round> {
      const tokens = TOKENS[program.name] ?? SERVICE_TOKENS;
      const warmSeconds = isFirst ? WARM_SECONDS : WARM_AGAIN_SECONDS;
      const made = (seconds: number): Promise<Requests> =>
        workload.requests({ pool, data, tokens, seconds });
      // What these insert is there before the first load, so that the server has begun to write it to disk.
      const [warming, measured] = [await made(warmSeconds), await made(options.seconds)];
      const how = { wrk, databasePid: server.pid };
      await measureRound(program, warming, warmSeconds, how);
      return measureRound(program, measured, options.seconds, how);
    }
  } finally {
    await stopAll([...programs.values()], server);
  }
}

/** For Chromium's developer tools, or any other viewer of V8's profiles. */
function profiling(folder: string | undefined): string[] {
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

async function stopAll(programs: Program[], server: BenchServer): Promise<void> {
  await Promise.all(programs.map((program) => program.stop()));
  await server.stop();
}

await new Command('npm run bench --')
  .description(
    'Measures the service beside what people would use instead: answers a second, and the ratios.',
  )
  .option('--seconds <n>', 'of each measurement', positive, 10)
  .option('--rounds <n>', 'of each program, taken in turns', positive, 3)
  .option('--workload <names...>', `only these of ${WORKLOADS.map(({ name }) => name).join(', ')}`)
  .option('--peer <names...>', 'only beside these')
  .option('--server <url>', 'a MySQL or MariaDB server to use, instead of starting one')
  .option('--profile <folder>', "write a CPU profile of the service's there")
  .option('--wrk', 'send what it can by wrk, which must be installed, instead of autocannon')
  .option('--write', 'write bench/results and the tables of docs/performance.md')
  .option('--json', 'print the ratios as one JSON object')
  .action(bench)
  .parseAsync();
