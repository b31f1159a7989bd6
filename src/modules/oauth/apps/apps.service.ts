import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../../audit/audit-log.repository.js';
import { Clock, later } from '../../../common/clock.js';
import { InvalidRequest, NotFound } from '../../../common/errors.js';
import { isId, newId } from '../../../common/ids.js';
import {
  formatScope,
  isScope,
  parseScope,
  splitScope,
  type Scope,
} from '../../../common/scopes.js';
import { newSecret, sha256 } from '../../../common/secrets.js';
import { codePoints, isBlank } from '../../../common/text.js';
import { TransactionRunner, type Transaction } from '../../../database/transaction.js';
import type { App } from './app.entity.js';
import { AppsRepository } from './apps.repository.js';
import { redirectUriProblem } from './redirect-uri.js';

/** An app with everything that was registered for it (source document, section 1). */
export interface RegisteredApp {
  clientId: string;
  name: string;
  kind: App['kind'];
  scopes: readonly Scope[];
  redirectUris: readonly string[];
  enabled: boolean;
  createdAt: Date;
}

/** What a partner hands in and an operator registers; `scope` is space-separated. */
export interface Registration {
  /** A new id by default. */
  clientId?: string;
  name: string;
  kind: App['kind'];
  redirectUris: readonly string[];
  scope: string;
}

/** A client secret, told once: only its hash is kept. */
export type ToldOnce = string;

/** Registration of apps, by operators only. */
@Injectable()
export class AppsService {
  constructor(
    private readonly repository: AppsRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * Registers an app; `also` joins the transaction.
   * @returns the app and, for a confidential one, its client secret
   * @throws InvalidRequest when the name, a redirection URI or a scope cannot be registered
   */
  async register(
    registration: Registration,
    change: Change,
    also: (tx: Transaction, clientId: string) => Promise<void> = async () => undefined,
  ): Promise<{ app: RegisteredApp; secret?: ToldOnce }> {
    const scopes = checkedRegistration(registration);
    const now = this.clock.now();
    const { kind, redirectUris } = registration;
    const name = registration.name.trim();
    const app: App = {
      clientId: registration.clientId ?? newId('svc_app', now),
      name,
      kind,
      scope: formatScope(scopes),
      status: 'enabled',
      createdAt: now,
    };
    const secret = kind === 'confidential' ? newSecret('svc_sec') : undefined;
    await this.transactions.run(async (tx) => {
      await this.repository.insert(tx, app, redirectUris);
      if (secret !== undefined) await this.storeSecret(tx, app.clientId, secret, now);
      await also(tx, app.clientId);
      await this.audit.record(tx, 'app.created', app.clientId, change, {
        name,
        kind,
        scope: app.scope,
        redirectUris,
      });
    });
    return { app: registered(app, redirectUris), secret };
  }

  /** The app, or null when there is none with this id. Ids that could not be one never reach the database. */
  async find(clientId: string): Promise<RegisteredApp | null> {
    if (!isId('svc_app', clientId)) return null;
    const app = await this.repository.find(clientId);
    return app && registered(app, await this.repository.findRedirectUris(clientId));
  }

  /** @throws NotFound */
  async show(clientId: string): Promise<RegisteredApp> {
    const app = await this.find(clientId);
    if (!app) throw new NotFound('There is no app with this client_id. "app list" shows them all.');
    return app;
  }

  async list(): Promise<RegisteredApp[]> {
    const apps = await this.repository.findAll();
    const redirectUris = await this.repository.findAllRedirectUris();
    return apps.map((app) => registered(app, redirectUris.get(app.clientId) ?? []));
  }

  /** Disabling takes effect at once: tokens, sign-ins and the token endpoint all ask for the app's status. @throws NotFound */
  async changeStatus(
    clientId: string,
    status: App['status'],
    change: Change,
  ): Promise<RegisteredApp> {
    const app = await this.show(clientId);
    await this.transactions.run(async (tx) => {
      if (await this.repository.changeStatus(tx, clientId, status)) {
        await this.audit.record(tx, `app.${status}`, clientId, change);
      }
    });
    return { ...app, enabled: status === 'enabled' };
  }

  /**
   * Gives a confidential app a new secret and lets the old ones end after `graceMs` (source document, section 5.5).
   * @throws InvalidRequest for a public app, which never holds a secret; NotFound
   */
  async rotateSecret(clientId: string, graceMs: number, change: Change): Promise<ToldOnce> {
    const { kind } = await this.show(clientId);
    if (kind === 'public') {
      throw new InvalidRequest(
        'A public app holds no client secret: it proves itself with PKCE, so there is nothing to rotate.',
      );
    }
    const now = this.clock.now();
    const secret = newSecret('svc_sec');
    await this.transactions.run(async (tx) => {
      await this.repository.retireSecrets(tx, clientId, later(now, graceMs));
      await this.storeSecret(tx, clientId, secret, now);
      await this.audit.record(tx, 'app.secret_rotated', clientId, change, {
        graceSeconds: graceMs / 1000,
      });
    });
    return secret;
  }

  private async storeSecret(
    tx: Transaction,
    clientId: string,
    secret: string,
    now: Date,
  ): Promise<void> {
    await this.repository.insertSecret(tx, {
      id: newId('sec', now),
      clientId,
      hash: sha256(secret),
      lastFour: secret.slice(-4),
      createdAt: now,
      expiresAt: null,
      lastUsedAt: null,
    });
  }
}

function checkedRegistration({ name, redirectUris, scope }: Registration): Scope[] {
  if (isBlank(name) || codePoints(name.trim()) > 200)
    throw new InvalidRequest('The name must be 1 to 200 characters.');
  if (redirectUris.length === 0)
    throw new InvalidRequest('An app needs at least one redirect URI.');
  for (const uri of redirectUris) {
    const problem = redirectUriProblem(uri);
    if (problem !== undefined) throw new InvalidRequest(`The redirect URI ${uri} ${problem}.`);
  }
  if (new Set(redirectUris).size < redirectUris.length)
    throw new InvalidRequest('A redirect URI is given twice.');
  const scopes = splitScope(scope);
  const unknown = scopes.find((value) => !isScope(value));
  if (unknown !== undefined) throw new InvalidRequest(`There is no scope "${unknown}".`);
  if (scopes.length === 0) throw new InvalidRequest('An app needs at least one scope.');
  return scopes.filter(isScope);
}

function registered(app: App, redirectUris: readonly string[]): RegisteredApp {
  const { clientId, name, kind, scope, status, createdAt } = app;
  return {
    clientId,
    name,
    kind,
    scopes: parseScope(scope),
    redirectUris,
    enabled: status === 'enabled',
    createdAt,
  };
}
