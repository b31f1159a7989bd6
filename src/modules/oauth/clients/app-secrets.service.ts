import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock, later } from '../../../platform/clock.js';
import { InvalidRequest, NotFound } from '../../../platform/errors.js';
import { isId, newId } from '../../../platform/ids.js';
import { isSecret, newSecret, sha256 } from '../../../platform/secrets.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import type { App, AppSecret } from './client.entities.js';
import { AppSecretsRepository } from './app-secrets.repository.js';
import { UnknownApp } from './apps.errors.js';
import { AppsRepository } from './apps.repository.js';

/** A client secret, told once: only its hash is kept. */
export type ToldOnce = string;

/** What may be known of a client secret: never the secret. */
export type SecretStatus = Omit<AppSecret, 'hash' | 'clientId'> & { isLive: boolean };

export interface Rotation {
  secretId: string;
  secret: ToldOnce;
  /** The secrets that worked before, with the ends that they have now, newest first. */
  former: SecretStatus[];
}

export interface Revocation {
  revoked: SecretStatus;
  /** False when it had ended before, so that nothing was changed. */
  endedNow: boolean;
  /** How many secrets of the app still work. */
  live: number;
}

/** Client secrets of confidential apps, by operators only (source document, section 5.5). At most two of an app work. */
@Injectable()
export class AppSecretsService {
  constructor(
    private readonly apps: AppsRepository,
    private readonly secrets: AppSecretsRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /** A new secret that has no end. */
  async add(
    tx: Transaction,
    clientId: string,
    change: Change,
    now = this.clock.now(),
  ): Promise<{ secretId: string; secret: ToldOnce }> {
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
    await this.audit.record(tx, 'app.secret_added', clientId, change, named(stored));
    return { secretId: stored.id, secret };
  }

  /** The live ones first, each part newest first. A public app has none. @throws UnknownApp */
  async list(clientId: string): Promise<SecretStatus[]> {
    await this.require(clientId);
    return statuses(await this.secrets.findAll(clientId), this.clock.now());
  }

  /**
   * Gives a confidential app a new secret. The newest live one works for `graceMs` more, or until its own end when that is
   * sooner; every older one ends at once.
   * @throws UnknownApp; InvalidRequest for a public app, which never holds a secret
   */
  async rotate(clientId: string, graceMs: number, change: Change): Promise<Rotation> {
    const { kind } = await this.require(clientId);
    if (kind === 'public') {
      throw new InvalidRequest(
        'A public app holds no client secret: it proves itself with PKCE, so there is nothing to rotate.',
      );
    }
    return this.transactions.run(async (tx) => {
      await this.apps.lock(tx, clientId);
      const now = this.clock.now();
      const former: SecretStatus[] = [];
      for (const secret of newestFirst(await this.liveIn(tx, clientId, now))) {
        const end = later(now, former.length === 0 ? graceMs : 0);
        await this.retire(tx, secret, end, change);
        former.push(status(secret, now));
      }
      return { ...(await this.add(tx, clientId, change, now)), former };
    });
  }

  /** Ends one secret at once. @throws UnknownApp; NotFound when the app has no such secret */
  async revoke(clientId: string, secretId: string, change: Change): Promise<Revocation> {
    await this.require(clientId);
    return this.transactions.run(async (tx) => {
      await this.apps.lock(tx, clientId);
      const now = this.clock.now();
      const all = await this.secrets.findAll(clientId, tx);
      const secret = all.find(({ id }) => id === secretId);
      if (!secret) throw noSuchSecret(secretId);
      const live = all.filter((one) => isLive(one, now));
      const endedNow = live.includes(secret) && (await this.secrets.end(tx, secret, now));
      if (endedNow) {
        secret.expiresAt = now;
        await this.audit.record(tx, 'app.secret_revoked', clientId, change, named(secret));
      }
      return { revoked: status(secret, now), endedNow, live: live.length - (endedNow ? 1 : 0) };
    });
  }

  private async retire(
    tx: Transaction,
    secret: AppSecret,
    expiresAt: Date,
    change: Change,
  ): Promise<void> {
    if (!(await this.secrets.end(tx, secret, expiresAt))) return;
    secret.expiresAt = expiresAt;
    await this.audit.record(tx, 'app.secret_retired', secret.clientId, change, {
      ...named(secret),
      expiresAt,
    });
  }

  private async liveIn(tx: Transaction, clientId: string, now: Date): Promise<AppSecret[]> {
    const secrets = await this.secrets.findAll(clientId, tx);
    return secrets.filter((secret) => isLive(secret, now));
  }

  private async require(clientId: string): Promise<App> {
    const app = isId('svc_app', clientId) ? await this.apps.find(clientId) : null;
    if (!app) throw new UnknownApp();
    return app;
  }
}

function isLive({ expiresAt }: AppSecret, now: Date): boolean {
  return expiresAt === null || expiresAt > now;
}

/** The one without an end leads: the clocks of two operators' machines may differ, so times alone do not tell. */
function newestFirst(secrets: readonly AppSecret[]): AppSecret[] {
  return secrets.toSorted(
    (a, b) =>
      Number(b.expiresAt === null) - Number(a.expiresAt === null) ||
      b.createdAt.getTime() - a.createdAt.getTime(),
  );
}

function statuses(secrets: readonly AppSecret[], now: Date): SecretStatus[] {
  const all = newestFirst(secrets).map((secret) => status(secret, now));
  return [...all.filter((one) => one.isLive), ...all.filter((one) => !one.isLive)];
}

function status(secret: AppSecret, now: Date): SecretStatus {
  const { id, lastFour, createdAt, expiresAt, lastUsedAt } = secret;
  return { id, lastFour, createdAt, expiresAt, lastUsedAt, isLive: isLive(secret, now) };
}

function named({ id, lastFour }: AppSecret): Record<string, unknown> {
  return { secretId: id, lastFour };
}

function noSuchSecret(secretId: string): NotFound {
  return new NotFound(
    isSecret('svc_sec', secretId)
      ? 'That is a client secret itself, not the id of one. It is in the history of your shell now: remove it there, and name it by its id, which "app secret list" shows.'
      : 'The app has no secret with this id. "app secret list" shows them all.',
  );
}
