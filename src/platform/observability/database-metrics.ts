import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DatabaseDiagnostics } from '../database/database-status.js';
import { TransactionRunner } from '../database/transaction.js';
import { Metrics } from './metrics.js';

/** Metrics of the connection pool of MySQL or MariaDB, or of the transaction queue of SQLite. */
@Injectable()
export class DatabaseMetrics {
  constructor(database: DatabaseDiagnostics, transactions: TransactionRunner, metrics: Metrics) {
    if (!database.isServer) {
      metrics.registerGauge(
        'db_transactions_waiting',
        'Transactions that wait for the connection of SQLite.',
        () => transactions.waiting,
      );
      return;
    }
    const connections = new Gauge({
      name: 'db_pool_connections',
      help: 'Open connections of the pool, by state: used or free.',
      labelNames: ['state'],
      registers: [],
      collect: () => {
        const { used, free } = database.pool();
        connections.set({ state: 'used' }, used);
        connections.set({ state: 'free' }, free);
      },
    });
    metrics.registry.registerMetric(connections);
    metrics.registerGauge(
      'db_pool_limit',
      'Maximum connections of the pool.',
      () => database.pool().limit,
    );
    metrics.registerGauge(
      'db_pool_waiting',
      'Callers that wait for a connection of the pool.',
      () => database.pool().waiting,
    );
  }
}
