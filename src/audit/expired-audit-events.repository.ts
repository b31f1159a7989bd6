import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DAY, later } from '../common/clock.js';
import { AppConfig } from '../config/app-config.js';
import type { ExpiredRows } from '../database/expired-rows.js';
import { expiredLogRows } from '../database/log-rows.js';
import { AuditEvent } from './audit-event.entity.js';

/** The audit events that are kept no longer. */
@Injectable()
export class ExpiredAuditEvents {
  constructor(
    private readonly dataSource: DataSource,
    private readonly config: AppConfig,
  ) {}

  at(now: Date): ExpiredRows {
    const before = later(now, -this.config.retention.auditLog * DAY);
    return expiredLogRows(this.dataSource, AuditEvent, before);
  }
}
