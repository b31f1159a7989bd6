import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.repository.js';
import { AuditPersonalData, AuditTrail, ExpiredAuditEvents } from './audit-trail.repository.js';

const SERVICES = [AuditLog, AuditTrail, ExpiredAuditEvents, AuditPersonalData];

@Global()
@Module({ providers: SERVICES, exports: SERVICES })
export class AuditModule {}
