import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge } from 'prom-client';
import { AppConfig } from '../config/app-config.js';
import { VERSION } from '../version.js';
import { standardOutput } from './log-destination.js';
import { Metrics } from './metrics.js';

const PATH = '/metrics';

/** Serves `GET /metrics` for Prometheus on a separate port, for operators only. */
@Injectable()
export class MetricsServer implements OnApplicationShutdown {
  private readonly server = createServer((request, response) => {
    this.respond(request, response).catch((error: Error) => response.destroy(error));
  });

  constructor(
    private readonly metrics: Metrics,
    private readonly config: AppConfig,
  ) {}

  /** Does nothing if METRICS_PORT is off. @throws the system error if it cannot listen */
  async listen(): Promise<void> {
    const { metricsPort, metricsHost } = this.config.server;
    if (metricsPort === null) return;
    const { registry } = this.metrics;
    collectDefaultMetrics({ register: registry });
    new Gauge({
      name: 'build_info',
      help: 'Always 1. The labels are the versions of the service and of Node.',
      labelNames: ['version', 'node_version'],
      registers: [registry],
    }).set({ version: VERSION, node_version: process.versions.node }, 1);
    const droppedLines: Counter = new Counter({
      name: 'log_lines_dropped_total',
      help: 'Log lines that were dropped because standard output could not be written.',
      registers: [registry],
      collect: () => {
        droppedLines.reset();
        droppedLines.inc(standardOutput.droppedLines);
      },
    });
    this.server.listen(metricsPort, metricsHost);
    await once(this.server, 'listening');
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Prometheus can add parameters.
    if (request.url?.split('?')[0] !== PATH) {
      response.writeHead(404).end(`The metrics are at ${PATH}.\n`);
      return;
    }
    const { registry } = this.metrics;
    const text = await registry.metrics();
    response.writeHead(200, { 'content-type': registry.contentType }).end(text);
  }
}
