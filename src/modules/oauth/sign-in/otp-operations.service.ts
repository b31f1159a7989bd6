import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { OTP_RESULTS, type OtpCount, type OtpResult } from './sign-in.entities.js';
import { SignInRepository } from './sign-in.repository.js';

const MAX_HASHED = 1000;

/** How `otp report` groups one-time passwords. */
export const REPORT_GROUPS = ['country', 'app', 'result'] as const;

export type ReportGroup = (typeof REPORT_GROUPS)[number];

/** The one-time passwords of a group, by result. */
export interface OtpReportLine extends Record<OtpResult, number> {
  /** A country (ISO 3166-1 alpha-2), a client id, which is empty for the account pages, or a result. */
  group: string;
}

/** The report on one-time passwords and their pause, for operators. */
@Injectable()
export class OtpOperations {
  constructor(
    private readonly repository: SignInRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * Counts the one-time passwords that were requested since the start of the hour of `since`. Lines with the most sent ones come first;
   * those by result have the order of `OTP_RESULTS`, and include results that did not occur.
   */
  async report(since: Date, by: ReportGroup): Promise<OtpReportLine[]> {
    const groupOf = ({ country, clientId, result }: OtpCount): string =>
      ({ country, app: clientId, result })[by];
    const lines = new Map<string, OtpReportLine>();
    if (by === 'result') for (const result of OTP_RESULTS) lines.set(result, emptyLine(result));
    for (const count of await this.repository.findCounts(since)) {
      const group = groupOf(count);
      const line = lines.get(group) ?? emptyLine(group);
      line[count.result] += count.total;
      lines.set(group, line);
    }
    const unsorted = [...lines.values()];
    if (by === 'result') return unsorted;
    return unsorted.toSorted(
      (one, other) => other.sent - one.sent || one.group.localeCompare(other.group, 'en'),
    );
  }

  isPaused(): Promise<boolean> {
    return this.repository.isPaused();
  }

  /** Replaces phone numbers that version 1.1 stored with counts of wrong one-time passwords by their hashes: up to 1,000. */
  async hashPhones(): Promise<void> {
    for (const phone of await this.repository.findNumbersWithFailures(MAX_HASHED))
      await this.transactions.run((tx) => this.repository.adoptFailures(tx, phone));
  }

  /** Sends no one-time passwords from now on, in any process. Returns false if they were paused already. */
  pause(change: Change): Promise<boolean> {
    return this.transactions.run(async (tx) => {
      if (!(await this.repository.pause(tx, this.clock.now()))) return false;
      await this.audit.record(tx, 'otp.paused', 'otp', change);
      return true;
    });
  }

  /** Sends one-time passwords again. Returns false if they were not paused. */
  resume(change: Change): Promise<boolean> {
    return this.transactions.run(async (tx) => {
      if (!(await this.repository.resume(tx))) return false;
      await this.audit.record(tx, 'otp.resumed', 'otp', change);
      return true;
    });
  }
}

function emptyLine(group: string): OtpReportLine {
  return { group, sent: 0, failed: 0, no_account: 0, signed_in: 0 };
}
