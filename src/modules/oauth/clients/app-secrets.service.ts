import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock, addMilliseconds } from '../../../platform/clock.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import { InvalidRequest, NotFound } from '../../../platform/errors.js';
import { newId } from '../../../platform/ids.js';
import { hasSecretFormat, newSecret, sha256 } from '../../../platform/secrets.js';
import { Parameters } from '../protocol/parameters.js';
import { AppsRepository } from './apps.repository.js';
import type { AppSecret } from './client.entities.js';

/** The data of a client secret, without the secret. */
export type SecretStatus = Omit<AppSecret, 'hash' | 'clientId'> & { isLive: boolean };

/** A secret that is not stored yet. */
export interface NewSecret {
  secretId: string;
  secret: string;
}

export interface Rotation extends NewSecret {
  /** The secrets that were live before, with their new expiry, newest first. */
  former: SecretStatus[];
}

export interface Revocation {
  revoked: SecretStatus;
  /** False when the secret had already expired. */
  revokedNow: boolean;
  /** The number of remaining live secrets of the app. */
  live: number;
}

/** Client secrets of confidential apps (product requirements, section 5.5). An app has at most two live secrets. */
@Injectable()
export class AppSecretsService {
  constructor(
    private readonly apps: AppsRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** Call it before the transaction, so that a retry stores the secret that was shown. */
  create(): NewSecret {
    return { secretId: newId('sec', this.clock.now()), secret: newSecret('svc_sec') };
  }

  /** Stores a secret without an expiry: its hash and its last four characters. */
  async add(
    tx: Transaction,
    clientId: string,
    { secretId, secret }: NewSecret,
    change: Change,
    now = this.clock.now(),
  ): Promise<void> {
    const stored: AppSecret = {
      id: secretId,
      clientId,
      hash: sha256(secret),
      lastFour: secret.slice(-4),
      createdAt: now,
      expiresAt: null,
      lastUsedAt: null,
    };
    await this.apps.insertSecret(tx, stored);
    await this.audit.record(tx, 'app.secret_added', clientId, change, detailsOf(stored));
  }

  /** Live secrets first, then newest first. @throws NotFound when the app does not exist */
  async list(clientId: string): Promise<SecretStatus[]> {
    await this.apps.require(clientId);
    const now = this.clock.now();
    const secrets = newestFirst(await this.apps.findSecrets(clientId));
    return secrets
      .map((secret) => statusOf(secret, now))
      .toSorted((a, b) => Number(b.isLive) - Number(a.isLive));
  }

  /**
   * Adds a secret to a confidential app. The newest live secret expires after `graceMs` at the latest, older ones at once.
   * @param show shows the secret before the commit. If it fails, nothing changes, because nobody would know the secret.
   * @throws NotFound when the app does not exist; InvalidRequest when it is public
   */
  async rotate(
    clientId: string,
    graceMs: number,
    change: Change,
    show: (rotation: Rotation) => Promise<void> = async () => undefined,
  ): Promise<Rotation> {
    const { kind } = await this.apps.require(clientId);
    if (kind === 'public') {
      throw new InvalidRequest(
        'A public app has no client secret to rotate. It uses PKCE instead.',
      );
    }
    const created = this.create();
    const showOnce = once(show);
    return this.transactions.run(async (tx) => {
      await this.apps.lock(tx, clientId);
      const now = this.clock.now();
      const all = await this.apps.findSecrets(clientId, tx);
      const former: SecretStatus[] = [];
      for (const secret of newestFirst(all).filter((one) => isLive(one, now))) {
        const expiresAt = addMilliseconds(now, former.length === 0 ? graceMs : 0);
        if (await this.apps.expireSecret(tx, secret.id, expiresAt)) {
          secret.expiresAt = expiresAt;
          const details = { ...detailsOf(secret), expiresAt };
          await this.audit.record(tx, 'app.secret_retired', clientId, change, details);
        }
        former.push(statusOf(secret, now));
      }
      await this.add(tx, clientId, created, change, now);
      const rotation = { ...created, former };
      await showOnce(rotation);
      return rotation;
    });
  }

  /** Expires a secret at once. @throws NotFound when the app or the secret does not exist */
  async revoke(clientId: string, secretId: string, change: Change): Promise<Revocation> {
    await this.apps.require(clientId);
    return this.transactions.run(async (tx) => {
      await this.apps.lock(tx, clientId);
      const now = this.clock.now();
      const all = await this.apps.findSecrets(clientId, tx);
      const secret = all.find(({ id }) => id === secretId);
      if (!secret) throw secretNotFound(secretId);
      const live = all.filter((one) => isLive(one, now));
      const revokedNow = live.includes(secret) && (await this.apps.expireSecret(tx, secretId, now));
      if (revokedNow) {
        secret.expiresAt = now;
        await this.audit.record(tx, 'app.secret_revoked', clientId, change, detailsOf(secret));
      }
      return {
        revoked: statusOf(secret, now),
        revokedNow,
        live: live.length - (revokedNow ? 1 : 0),
      };
    });
  }

  /**
   * Whether a query has a `client_secret`, which proxies and logs may then have stored (RFC 6749 §2.3.1). Records the exposure of
   * live secrets in the audit log, but ignores other values, which anybody can send.
   */
  async reportSecretInQuery(query: Readonly<Record<string, unknown>>): Promise<boolean> {
    const sent = new Parameters(query).all('client_secret');
    const hashes = sent.filter((secret) => hasSecretFormat('svc_sec', secret)).map(sha256);
    if (hashes.length === 0) return sent.length > 0;
    const live = await this.apps.findLiveSecretsByHash(hashes, this.clock.now());
    const change = { actor: 'service', reason: 'the client secret was sent in a URL' };
    if (live.length > 0)
      await this.transactions.run(async (tx) => {
        for (const { id: secretId, clientId } of live)
          await this.audit.record(tx, 'app.secret_exposed', clientId, change, { secretId });
      });
    return true;
  }
}

/** Calls `show` the first time only: a transaction may run again. */
export function once<T>(show: (value: T) => Promise<void>): (value: T) => Promise<void> {
  let isShown = false;
  return async (value) => {
    if (!isShown) await show(value);
    isShown = true;
  };
}

function isLive({ expiresAt }: AppSecret, now: Date): boolean {
  return expiresAt === null || expiresAt > now;
}

/** A secret without an expiry is the newest, even if clocks of the operators' machines differ. */
function newestFirst(secrets: readonly AppSecret[]): AppSecret[] {
  return secrets.toSorted(
    (a, b) =>
      Number(b.expiresAt === null) - Number(a.expiresAt === null) ||
      b.createdAt.getTime() - a.createdAt.getTime(),
  );
}

function statusOf(secret: AppSecret, now: Date): SecretStatus {
  const { id, lastFour, createdAt, expiresAt, lastUsedAt } = secret;
  return { id, lastFour, createdAt, expiresAt, lastUsedAt, isLive: isLive(secret, now) };
}

function detailsOf({ id, lastFour }: AppSecret): Record<string, unknown> {
  return { secretId: id, lastFour };
}

function secretNotFound(secretId: string): NotFound {
  return new NotFound(
    hasSecretFormat('svc_sec', secretId)
      ? 'This is a client secret, not its id, and your shell history now contains it. Remove it there, and pass the id that "app secret list" prints.'
      : 'The app has no secret with this id. "app secret list --all" prints all ids.',
  );
}
