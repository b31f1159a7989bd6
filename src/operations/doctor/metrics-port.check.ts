import { SECOND } from '../../common/clock.js';
import { httpCall } from '../../common/http-call.js';
import type { AppConfig } from '../../config/app-config.js';
import { failed, ok, warning, type Check, type Finding } from './check.js';

const LONGEST_MS = 2 * SECOND;
const ANOTHER = 'Set METRICS_PORT to a free port, or to off.';

/** Whether the metrics of a service on this machine can be read. */
export function metricsPortCheck({ server }: AppConfig): Check {
  return { name: 'metrics', run: async () => [await findingOn(server)] };
}

async function findingOn({ metricsPort, port, host }: AppConfig['server']): Promise<Finding> {
  if (metricsPort === null) return ok('Metrics are off.');
  if (metricsPort === port) return failed('METRICS_PORT is PORT.', ANOTHER);
  const name = host?.includes(':') ? `[${host}]` : (host ?? '127.0.0.1');
  const url = `http://${name}:${metricsPort}/metrics`;
  const answer = await httpCall(url, LONGEST_MS, { method: 'GET' });
  if ('kind' in answer)
    return warning(
      `Nothing answers at ${url}: no service runs here.`,
      'node dist/src/bundle/main.js',
    );
  const type = answer.headers.get('content-type') ?? '';
  return answer.status === 200 && type.startsWith('text/plain')
    ? ok(`Metrics are at ${url}.`)
    : failed(`Another program answers at ${url} (${answer.status}).`, ANOTHER);
}
