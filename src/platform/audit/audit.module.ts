import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.repository.js';
import { AuditEventReader } from './audit-event-reader.repository.js';
import { AuditPersonalData } from './audit.data-subject.js';

const SERVICES = [AuditLog, AuditEventReader, AuditPersonalData];

@Global()
@Module({ providers: SERVICES, exports: SERVICES })
export class AuditModule {}
