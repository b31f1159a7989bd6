import { Module } from '@nestjs/common';
import { CallLogPrune } from './calls/call-log-retention.js';
import { CallLog, CallLogMiddleware } from './calls/call-log.service.js';
import { CallsPersonalData } from './calls/calls.data-subject.js';
import { CallsRepository } from './calls/calls.repository.js';
import { QuotaCountersRepository } from './months/quota-counters.repository.js';
import { QuotaMonthsRepository } from './months/quota-months.repository.js';
import { QuotaMonths } from './months/quota-months.service.js';
import { QuotaReconciliation } from './months/quota-reconciliation.service.js';
import { QuotaReport } from './months/quota-report.service.js';
import { QuotaMetrics } from './quota-metrics.js';
import { QuotaController } from './quota.controller.js';
import { QuotaRepository } from './quota.repository.js';
import { QuotaService } from './quota.service.js';
import { UsageDaysRepository } from './calls/usage-days.repository.js';
import { UsageRollup } from './calls/usage-rollup.service.js';

@Module({
  controllers: [QuotaController],
  providers: [
    QuotaRepository,
    QuotaService,
    QuotaMetrics,
    CallsRepository,
    CallLog,
    CallLogMiddleware,
    QuotaCountersRepository,
    QuotaMonthsRepository,
    QuotaMonths,
    UsageDaysRepository,
    UsageRollup,
    CallLogPrune,
    QuotaReconciliation,
    CallsPersonalData,
    QuotaReport,
  ],
  exports: [
    QuotaService,
    CallLog,
    QuotaReconciliation,
    QuotaReport,
    QuotaMonths,
    UsageRollup,
    CallLogPrune,
    CallsPersonalData,
  ],
})
export class QuotaModule {}
