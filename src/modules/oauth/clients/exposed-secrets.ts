import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { isSecret, sha256 } from '../../../platform/secrets.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { AppSecretsRepository } from './app-secrets.repository.js';
import { Parameters } from '../protocol/parameters.js';

/** Tells the operators about a live client secret that came in a URL, where proxies and logs have read it (RFC 6749 §2.3.1). */
@Injectable()
export class ExposedSecrets {
  constructor(
    private readonly secrets: AppSecretsRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * Whether the address holds a client secret, of whatever app. Only one that opens its app is worth an entry: anybody can
   * send another.
   */
  async report(request: Request): Promise<boolean> {
    const sent = new Parameters(request.query).all('client_secret');
    const hashes = sent.filter((secret) => isSecret('svc_sec', secret)).map(sha256);
    if (hashes.length > 0) await this.record(hashes);
    return sent.length > 0;
  }

  private async record(hashes: readonly string[]): Promise<void> {
    const live = await this.secrets.findLiveByHash(hashes, this.clock.now());
    if (live.length === 0) return;
    const change = { actor: 'service', reason: 'the client secret was sent in a URL' };
    await this.transactions.run(async (tx) => {
      for (const { id: secretId, clientId } of live)
        await this.audit.record(tx, 'app.secret_exposed', clientId, change, { secretId });
    });
  }
}
