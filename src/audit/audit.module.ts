import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.repository.js';
import { AuditTrail } from './audit-trail.repository.js';
import { AuditPersonalData } from './audit.personal-data.js';
import { ExpiredAuditEvents } from './expired-audit-events.repository.js';

const SERVICES = [AuditLog, AuditTrail, ExpiredAuditEvents, AuditPersonalData];

@Global()
@Module({ providers: SERVICES, exports: SERVICES })
export class AuditModule {}
