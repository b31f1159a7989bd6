import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.repository.js';
import { AuditEventReader } from './audit-event-reader.repository.js';

const SERVICES = [AuditLog, AuditEventReader];

@Global()
@Module({ providers: SERVICES, exports: SERVICES })
export class AuditModule {}
