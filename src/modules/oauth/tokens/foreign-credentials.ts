import { Injectable, Logger } from '@nestjs/common';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { currentRequest } from '../../../platform/request-context.js';
import type { App } from '../clients/client.entities.js';
import { RateLimiter } from '../rate-limit/rate-limiter.js';

/** A code or token with the grant that it belongs to. */
interface IssuedCredential {
  kind: 'code' | 'access' | 'refresh';
  grantId: string;
  clientId: string;
  userId: string;
}

/** Codes and tokens that an app sends although they were issued to another app. They may be stolen. */
@Injectable()
export class ForeignCredentials {
  private readonly logger = new Logger(ForeignCredentials.name);

  constructor(
    private readonly limiter: RateLimiter,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Records the attempt in the audit log: of an app, an endpoint, a kind of credential and a grant, one an hour. The app has few grants of
   * others to choose from, but may send one again and again.
   */
  async record(sender: App, { kind, grantId, clientId, userId }: IssuedCredential): Promise<void> {
    const endpoint = currentRequest()?.clientEndpoint ?? '';
    const key = `foreign ${sender.clientId} ${endpoint} ${kind} ${grantId}`;
    if (!(await this.limiter.isFirstFailure(key))) return;
    const change = { actor: sender.clientId };
    const details = { clientId, userId, kind, endpoint };
    try {
      await this.transactions.run((tx) =>
        this.audit.record(tx, 'token.foreign', grantId, change, details),
      );
    } catch (error) {
      // The request is rejected all the same, and introspection only reads.
      this.logger.error(
        `Could not record in the audit log that ${sender.clientId} sent a credential of the grant ${grantId}.`,
        (error as Error).stack,
      );
    }
  }
}
