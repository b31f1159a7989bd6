import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock, later } from '../../../platform/clock.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { InvalidRequest, NotFound } from '../../../platform/errors.js';
import { newId } from '../../../platform/ids.js';
import { isSecret, newSecret, sha256 } from '../../../platform/secrets.js';
import { Parameters } from '../protocol/parameters.js';
import { AppSecretsRepository } from './app-secrets.repository.js';
import { AppsRepository } from './apps.repository.js';
import type { AppSecret } from './client.entities.js';

/** A client secret as operators see it: without the secret. */
export type SecretStatus = Omit<AppSecret, 'hash' | 'clientId'> & { isLive: boolean };

export interface Rotation {
  secretId: string;
  secret: string;
  /** The secrets that were live before, with their new ends, newest first. */
  former: SecretStatus[];
}

export interface Revocation {
  revoked: SecretStatus;
  /** False when it had expired before, so that nothing was changed. */
  endedNow: boolean;
  /** The number of live secrets that the app has left. */
  live: number;
}

/** Client secrets of confidential apps (source document, section 5.5). At most two of an app are live. */
@Injectable()
export class AppSecretsService {
  constructor(
    private readonly apps: AppsRepository,
    private readonly secrets: AppSecretsRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** Creates a secret without an end. Only its hash is stored. */
  async add(
    tx: Transaction,
    clientId: string,
    change: Change,
    now = this.clock.now(),
  ): Promise<{ secretId: string; secret: string }> {
    const secret = newSecret('svc_sec');
    const stored: AppSecret = {
      id: newId('sec', now),
      clientId,
      hash: sha256(secret),
      lastFour: secret.slice(-4),
      createdAt: now,
      expiresAt: null,
      lastUsedAt: null,
    };
    await this.secrets.insert(tx, stored);
    await this.audit.record(tx, 'app.secret_added', clientId, change, detailsOf(stored));
    return { secretId: stored.id, secret };
  }

  /** The live ones first, each group newest first. @throws NotFound when there is no such app */
  async list(clientId: string): Promise<SecretStatus[]> {
    await this.apps.require(clientId);
    const now = this.clock.now();
    const secrets = newestFirst(await this.secrets.findAll(clientId));
    return secrets
      .map((secret) => status(secret, now))
      .toSorted((a, b) => Number(b.isLive) - Number(a.isLive));
  }

  /**
   * Adds a new secret to a confidential app. The newest live one expires after `graceMs`, or at its own end if that is sooner; the
   * older ones at once.
   * @throws NotFound when there is no such app; InvalidRequest when it is public
   */
  async rotate(clientId: string, graceMs: number, change: Change): Promise<Rotation> {
    const { kind } = await this.apps.require(clientId);
    if (kind === 'public') {
      throw new InvalidRequest(
        'A public app holds no client secret: it proves itself with PKCE, so there is nothing to rotate.',
      );
    }
    return this.transactions.run(async (tx) => {
      await this.apps.lock(tx, clientId);
      const now = this.clock.now();
      const all = await this.secrets.findAll(clientId, tx);
      const former: SecretStatus[] = [];
      for (const secret of newestFirst(all).filter((one) => isLive(one, now))) {
        const expiresAt = later(now, former.length === 0 ? graceMs : 0);
        if (await this.secrets.expire(tx, secret.id, expiresAt)) {
          secret.expiresAt = expiresAt;
          const details = { ...detailsOf(secret), expiresAt };
          await this.audit.record(tx, 'app.secret_retired', clientId, change, details);
        }
        former.push(status(secret, now));
      }
      return { ...(await this.add(tx, clientId, change, now)), former };
    });
  }

  /** Expires one secret at once. @throws NotFound when there is no such app, or the app has no such secret */
  async revoke(clientId: string, secretId: string, change: Change): Promise<Revocation> {
    await this.apps.require(clientId);
    return this.transactions.run(async (tx) => {
      await this.apps.lock(tx, clientId);
      const now = this.clock.now();
      const all = await this.secrets.findAll(clientId, tx);
      const secret = all.find(({ id }) => id === secretId);
      if (!secret) throw noSuchSecret(secretId);
      const live = all.filter((one) => isLive(one, now));
      const endedNow = live.includes(secret) && (await this.secrets.expire(tx, secretId, now));
      if (endedNow) {
        secret.expiresAt = now;
        await this.audit.record(tx, 'app.secret_revoked', clientId, change, detailsOf(secret));
      }
      return { revoked: status(secret, now), endedNow, live: live.length - (endedNow ? 1 : 0) };
    });
  }

  /**
   * Whether a URL has a client secret in its query, where proxies and logs have read it (RFC 6749 §2.3.1). Records those that
   * are live; others prove nothing, since anybody can send them.
   */
  async reportExposed(query: Readonly<Record<string, unknown>>): Promise<boolean> {
    const sent = new Parameters(query).all('client_secret');
    const hashes = sent.filter((secret) => isSecret('svc_sec', secret)).map(sha256);
    if (hashes.length === 0) return sent.length > 0;
    const live = await this.secrets.findLiveByHash(hashes, this.clock.now());
    const change = { actor: 'service', reason: 'the client secret was sent in a URL' };
    if (live.length > 0)
      await this.transactions.run(async (tx) => {
        for (const { id: secretId, clientId } of live)
          await this.audit.record(tx, 'app.secret_exposed', clientId, change, { secretId });
      });
    return true;
  }
}

function isLive({ expiresAt }: AppSecret, now: Date): boolean {
  return expiresAt === null || expiresAt > now;
}

/** The one without an end is the newest, even if the clocks of two operators' machines differ. */
function newestFirst(secrets: readonly AppSecret[]): AppSecret[] {
  return secrets.toSorted(
    (a, b) =>
      Number(b.expiresAt === null) - Number(a.expiresAt === null) ||
      b.createdAt.getTime() - a.createdAt.getTime(),
  );
}

function status(secret: AppSecret, now: Date): SecretStatus {
  const { id, lastFour, createdAt, expiresAt, lastUsedAt } = secret;
  return { id, lastFour, createdAt, expiresAt, lastUsedAt, isLive: isLive(secret, now) };
}

function detailsOf({ id, lastFour }: AppSecret): Record<string, unknown> {
  return { secretId: id, lastFour };
}

function noSuchSecret(secretId: string): NotFound {
  return new NotFound(
    isSecret('svc_sec', secretId)
      ? 'That is a client secret itself, not the id of one. It is in the history of your shell now: remove it there, and name it by its id, which "app secret list" shows.'
      : 'The app has no secret with this id. "app secret list" shows them all.',
  );
}
