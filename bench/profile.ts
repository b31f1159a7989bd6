import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The part of Node's `.cpuprofile` format (Chrome DevTools Protocol, `Profiler.Profile`) that is used here. */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[];
  /** The function that ran at each sample. */
  samples: number[];
  /** Microseconds between samples. */
  timeDeltas: number[];
}

const LARGEST = 10;
const NOT_A_COST = new Set(['(idle)', '(root)']);

/** Options of Node that write a CPU profile to a folder when the process ends. */
export function profileOptions(folder: string): string[] {
  return ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

/**
 * The ten largest costs of the service, as a Markdown table: self time by package, module of Node, or native function.
 * @param folder with one profile of the build that is not bundled, because bundling hides the packages
 * @param responses that the service sent, including those of the warm-up
 */
export async function largestCosts(folder: string, responses: number): Promise<string> {
  const [file, another] = (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile'));
  if (file === undefined || another !== undefined)
    throw new Error(`${folder} must be empty before the run, and have one CPU profile after it.`);
  const profile = JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile;
  const costs = selfTimes(profile).toSorted(([, left], [, right]) => right - left);
  const total = costs.reduce((sum, [, micros]) => sum + micros, 0);
  const rows = costs.slice(0, LARGEST).map(([place, micros]) => {
    const share = Math.round((100 * micros) / total);
    return `| ${place} | ${Math.round(micros / responses)} | ${share} % |`;
  });
  return [
    `Of ${Math.round(total / responses)} µs:`,
    '',
    '| place | µs per response | share |',
    '|---|--:|--:|',
    ...rows,
  ].join('\n');
}

function selfTimes({ nodes, samples, timeDeltas }: CpuProfile): [place: string, micros: number][] {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const times = new Map<string, number>();
  samples.forEach((id, index) => {
    const place = places.get(id) ?? '(root)';
    // The function of a sample ran until the next one.
    if (!NOT_A_COST.has(place))
      times.set(place, (times.get(place) ?? 0) + (timeDeltas[index + 1] ?? 0));
  });
  return [...times];
}

function placeOf({ functionName, url }: CpuProfile['nodes'][number]['callFrame']): string {
  const packageName = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (packageName !== undefined) return packageName;
  if (url.startsWith('node:')) return url;
  return url === '' ? functionName : 'the service';
}
