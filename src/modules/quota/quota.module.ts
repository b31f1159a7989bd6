import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { CallLog } from './calls/call-log.service.js';
import { OwnCallsController } from './calls/own-calls.controller.js';
import { OwnCalls } from './calls/own-calls.service.js';
import { UsageRollup } from './calls/usage-rollup.service.js';
import { QuotaMonths } from './months/quota-months.service.js';
import { QuotaReconciliation } from './months/quota-reconciliation.service.js';
import { QuotaMetrics } from './quota-metrics.js';
import { QuotaController } from './quota.controller.js';
import { QuotaRepository } from './quota.repository.js';
import { QuotaService } from './quota.service.js';

const SERVICES = [QuotaService, QuotaMonths, QuotaReconciliation, CallLog, UsageRollup];

@Module({
  imports: [EventsModule],
  controllers: [QuotaController, OwnCallsController],
  providers: [QuotaRepository, QuotaMetrics, OwnCalls, ...SERVICES],
  exports: SERVICES,
})
export class QuotaModule {}
