import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { VERSION } from '../version.js';

/** Memory, processor, event loop and garbage collection of this process from now on, and what it runs. Once per registry. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  const build = new Gauge({
    name: 'build_info',
    help: 'Always 1: the version of the service and of Node.',
    labelNames: ['version', 'node_version'],
    registers: [registry],
  });
  build.set({ version: VERSION, node_version: process.versions.node }, 1);
}
