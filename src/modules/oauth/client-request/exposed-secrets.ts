import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../audit/audit-log.repository.js';
import { Clock } from '../../../common/clock.js';
import { isId } from '../../../common/ids.js';
import { digestsEqual, isSecret, sha256 } from '../../../common/secrets.js';
import { TransactionRunner } from '../../../database/transaction.js';
import { AppSecretsRepository } from '../apps/app-secrets.repository.js';
import type { Parameters } from '../parameters.js';

/** Tells the operators about a live client secret that came in a URL, where proxies and logs have read it (RFC 6749 §2.3.1). */
@Injectable()
export class ExposedSecrets {
  constructor(
    private readonly secrets: AppSecretsRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** Only a secret that opens the app is worth an entry: anybody can send another. */
  async report(query: Parameters, formClientId: string | undefined): Promise<void> {
    const clientId = formClientId ?? query.get('client_id');
    const secret = query.get('client_secret') ?? '';
    if (!isId('svc_app', clientId) || !isSecret('svc_sec', secret)) return;
    const live = await this.secrets.findLive(clientId, this.clock.now());
    const exposed = live.find(({ hash }) => digestsEqual(hash, sha256(secret)));
    if (!exposed) return;
    await this.transactions.run((tx) =>
      this.audit.record(
        tx,
        'app.secret_exposed',
        clientId,
        { actor: 'service', reason: 'the client secret was sent in a URL' },
        { secretId: exposed.id },
      ),
    );
  }
}
