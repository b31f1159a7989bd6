import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.repository.js';
import { AuditPersonalData, AuditTrail } from './audit-trail.repository.js';

const SERVICES = [AuditLog, AuditTrail, AuditPersonalData];

@Global()
@Module({ providers: SERVICES, exports: SERVICES })
export class AuditModule {}
