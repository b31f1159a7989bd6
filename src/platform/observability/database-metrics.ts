import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DatabaseLoad } from '../database/database-status.js';
import { Metrics } from './metrics.js';

/** Use of the connection pool of a server, or the queue of transactions on SQLite. */
@Injectable()
export class DatabaseMetrics {
  constructor(load: DatabaseLoad, metrics: Metrics) {
    if (!load.hasPool) {
      metrics.registerGauge(
        'db_units_waiting',
        'Units of work that wait for the one connection.',
        () => load.queuedTransactions(),
      );
      return;
    }
    const connections = new Gauge({
      name: 'db_pool_connections',
      help: 'Open connections of the pool, by whether somebody uses them.',
      labelNames: ['state'],
      registers: [],
      collect: () => {
        const { used, free } = load.pool();
        connections.set({ state: 'used' }, used);
        connections.set({ state: 'free' }, free);
      },
    });
    metrics.registry.registerMetric(connections);
    metrics.registerGauge(
      'db_pool_limit',
      'Most connections of the pool.',
      () => load.pool().limit,
    );
    metrics.registerGauge(
      'db_pool_waiting',
      'Who waits for a connection of the pool.',
      () => load.pool().waiting,
    );
  }
}
