import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../platform/audit/audit-event.entity.js';
import { AuditEventReader } from '../../platform/audit/audit-log.repository.js';
import { Clock, addMilliseconds, MINUTE } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { NotFound } from '../../platform/errors.js';
import { timeOf } from '../../platform/ids.js';
import type { ApiCall } from '../quota/quota.entities.js';
import { CallLog } from '../quota/calls/call-log.service.js';

/** Maximum step of the clock of a process during a request, in either direction. */
const CLOCK_STEP_MS = MINUTE;
/** More than a request takes after its body has arrived. */
const PROCESSING_MS = 5 * MINUTE;

/** What the database has about a request. */
export interface RequestTrace {
  /** From the request id. */
  receivedAt: Date;
  calls: ApiCall[];
  events: AuditEvent[];
}

/** Finds the stored traces of requests. */
@Injectable()
export class RequestTraces {
  constructor(
    private readonly calls: CallLog,
    private readonly audit: AuditEventReader,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Searches the logs around the time that the id contains.
   * @param id a request id such as `req_…`
   * @throws NotFound if neither log has it
   */
  async get(id: string): Promise<RequestTrace> {
    const receivedAt = timeOf(id);
    const range = {
      from: addMilliseconds(receivedAt, -CLOCK_STEP_MS),
      to: addMilliseconds(receivedAt, this.config.server.requestTimeoutMs + PROCESSING_MS),
    };
    // Databases reject times that they cannot store, and an invented id may contain one.
    if (range.from > this.clock.now())
      throw new NotFound(
        `${id} is not an id of this service: its time, ${receivedAt.toISOString()}, is in the future. Check the id.`,
      );
    const calls = await this.calls.findOfRequest(id, range);
    const events = await this.audit.findOfRequest(id, range);
    if (calls.length + events.length === 0) throw this.notFound(id, receivedAt);
    return { receivedAt, calls, events };
  }

  private notFound(id: string, receivedAt: Date): NotFound {
    const { callLog, auditLog } = this.config.retention;
    return new NotFound(
      `No API call and no audit event has the id ${id}, of ${receivedAt.toISOString()}. Calls are kept for ${callLog} days (CALL_LOG_DAYS) and events for ${auditLog} (AUDIT_LOG_DAYS); the access log has every request: grep ${id} FILE`,
    );
  }
}
