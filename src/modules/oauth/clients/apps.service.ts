import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import {
  canonicalScopes,
  formatScope,
  isScope,
  parseScope,
  type Scope,
  SCOPES,
  splitScope,
} from '../../../platform/access/scopes.js';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import { InvalidRequest } from '../../../platform/errors.js';
import { isId, newId } from '../../../platform/ids.js';
import { codePoints, isBlank } from '../../../platform/text.js';
import { redirectUriProblem } from '../protocol/redirect-uri.js';
import { AppSecretsService, type ToldOnce } from './app-secrets.service.js';
import { AppsRepository } from './apps.repository.js';
import { UnknownApp } from './apps.errors.js';
import type { App } from './client.entities.js';

const LONGEST_NAME = 200;

/** The name without the spaces around it. @throws InvalidRequest */
export function checkedName(name: string): string {
  const trimmed = name.trim();
  if (isBlank(name) || codePoints(trimmed) > LONGEST_NAME)
    throw new InvalidRequest(`The name must be 1 to ${LONGEST_NAME} characters.`);
  return trimmed;
}

/** The redirection URIs, one at least, each fit to be registered and given once. @throws InvalidRequest */
export function checkedRedirectUris(uris: readonly string[]): readonly string[] {
  if (uris.length === 0) throw new InvalidRequest('An app needs at least one redirect URI.');
  for (const uri of uris) {
    const problem = redirectUriProblem(uri);
    if (problem !== undefined) throw new InvalidRequest(`The redirect URI ${uri} ${problem}.`);
  }
  if (new Set(uris).size < uris.length) throw new InvalidRequest('A redirect URI is given twice.');
  return uris;
}

/** The scopes of a space-separated list, one at least. @throws InvalidRequest */
export function checkedScopes(scope: string): Scope[] {
  const scopes = splitScope(scope);
  const unknown = scopes.find((value) => !isScope(value));
  if (unknown !== undefined)
    throw new InvalidRequest(`There is no scope "${unknown}". There are ${SCOPES.join(', ')}.`);
  if (scopes.length === 0) throw new InvalidRequest('An app needs at least one scope.');
  return canonicalScopes(scopes);
}

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

/** What an operator changes of a registration; each member replaces what was registered before. */
export type RegistrationChanges = Partial<Pick<Registration, 'name' | 'redirectUris' | 'scope'>>;

/** Registration of apps, by operators only. */
@Injectable()
export class AppsService {
  constructor(
    private readonly repository: AppsRepository,
    private readonly secrets: AppSecretsService,
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
    const name = checkedName(registration.name);
    const redirectUris = checkedRedirectUris(registration.redirectUris);
    const scope = formatScope(checkedScopes(registration.scope));
    const { kind } = registration;
    const now = this.clock.now();
    const app: App = {
      clientId: registration.clientId ?? newId('svc_app', now),
      name,
      kind,
      scope,
      status: 'enabled',
      createdAt: now,
    };
    const { clientId } = app;
    return this.transactions.run(async (tx) => {
      await this.repository.insert(tx, app, redirectUris);
      const details = { name, kind, scope, redirectUris };
      await this.audit.record(tx, 'app.created', clientId, change, details);
      await also(tx, clientId);
      const added =
        kind === 'confidential' ? await this.secrets.add(tx, clientId, change) : undefined;
      return { app: registered(app, redirectUris), secret: added?.secret };
    });
  }

  /** The app, or null when there is none with this id. Ids that could not be one never reach the database. */
  async find(clientId: string): Promise<RegisteredApp | null> {
    if (!isId('svc_app', clientId)) return null;
    const app = await this.repository.find(clientId);
    return app && registered(app, await this.repository.findRedirectUris(clientId));
  }

  /** @throws UnknownApp */
  async show(clientId: string): Promise<RegisteredApp> {
    const app = await this.find(clientId);
    if (!app) throw new UnknownApp();
    return app;
  }

  async list(): Promise<RegisteredApp[]> {
    const apps = await this.repository.findAll();
    const redirectUris = await this.repository.findAllRedirectUris();
    return apps.map((app) => registered(app, redirectUris.get(app.clientId) ?? []));
  }

  /** Disabling takes effect at once: tokens, sign-ins and the token endpoint all ask for the app's status. @throws UnknownApp */
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
   * Replaces what `changes` names. A redirection URI that is gone ends the requests that wait for it; scopes that users
   * granted before stay granted.
   * @throws UnknownApp; InvalidRequest when the name, a redirection URI or a scope cannot be registered
   */
  async update(
    clientId: string,
    changes: RegistrationChanges,
    change: Change,
  ): Promise<{ app: RegisteredApp; changed: boolean }> {
    const { name, redirectUris, scope } = changes;
    const wanted = {
      ...(name !== undefined && { name: checkedName(name) }),
      ...(redirectUris && { redirectUris: checkedRedirectUris(redirectUris) }),
      ...(scope !== undefined && { scope: formatScope(checkedScopes(scope)) }),
    };
    await this.show(clientId);
    return this.transactions.run(async (tx) => {
      await this.repository.lock(tx, clientId);
      const app = await this.repository.find(clientId, tx);
      if (!app) throw new UnknownApp();
      const uris = await this.repository.findRedirectUris(clientId, tx);
      const before = { name: app.name, scope: app.scope, redirectUris: uris as readonly string[] };
      const after = { ...before, ...wanted };
      const details = differences(before, after);
      const changed = Object.keys(details).length > 0;
      const { redirectUris: newUris, ...fields } = after;
      if (changed) {
        await this.repository.change(tx, clientId, fields);
        if ('redirectUris' in details)
          await this.repository.replaceRedirectUris(tx, clientId, newUris);
        await this.audit.record(tx, 'app.updated', clientId, change, details);
      }
      return { app: registered(Object.assign(app, fields), newUris), changed };
    });
  }
}

/** Of each member that changed, what it was and what it is. */
function differences<T extends object>(before: T, after: T): Record<string, object> {
  const names = Object.keys(before) as (keyof T & string)[];
  const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  return Object.fromEntries(changed.map((name) => [name, { from: before[name], to: after[name] }]));
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
