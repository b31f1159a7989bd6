import { Module } from '@nestjs/common';
import { CallLogPrune } from './call-log-prune.service.js';
import { CallLogMiddleware } from './call-log.middleware.js';
import { CallLog } from './call-log.service.js';
import { CallsPersonalData } from './calls.personal-data.js';
import { CallsRepository } from './calls.repository.js';
import { QuotaAlertsRepository } from './months/quota-alerts.repository.js';
import { QuotaAlerts } from './months/quota-alerts.service.js';
import { QuotaCountersRepository } from './months/quota-counters.repository.js';
import { QuotaMonthsRepository } from './months/quota-months.repository.js';
import { QuotaMonths } from './months/quota-months.service.js';
import { QuotaReconciliation } from './months/quota-reconciliation.service.js';
import { QuotaReport } from './months/quota-report.service.js';
import { QuotaMetrics } from './quota-metrics.js';
import { QuotaController } from './quota.controller.js';
import { QuotaRepository } from './quota.repository.js';
import { QuotaService } from './quota.service.js';
import { UsageDaysRepository } from './usage/usage-days.repository.js';
import { UsageRollup } from './usage/usage-rollup.service.js';

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
    QuotaAlertsRepository,
    QuotaAlerts,
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
    QuotaAlerts,
    UsageRollup,
    CallLogPrune,
    CallsPersonalData,
  ],
})
export class QuotaModule {}
