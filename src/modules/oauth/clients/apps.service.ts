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
import { corsOrigin, redirectUriProblem } from '../protocol/redirect-uri.js';
import { appNameKey, validAppName } from './app-name.js';
import { AppSecretsService } from './app-secrets.service.js';
import { AppsRepository } from './apps.repository.js';
import type { App } from './client.entities.js';

function validRedirectUris(uris: readonly string[]): readonly string[] {
  if (uris.length === 0) throw new InvalidRequest('An app needs at least one redirect URI.');
  for (const uri of uris) {
    const problem = redirectUriProblem(uri);
    if (problem !== undefined) throw new InvalidRequest(`The redirect URI ${uri} ${problem}.`);
  }
  if (new Set(uris).size < uris.length)
    throw new InvalidRequest('The redirect URIs contain a duplicate.');
  return uris;
}

/** Returns the scopes in canonical order. */
function validScope(scope: string): string {
  const scopes = splitScope(scope);
  const unknown = scopes.find((value) => !isScope(value));
  if (unknown !== undefined)
    throw new InvalidRequest(
      `There is no scope "${unknown}". The scopes are ${SCOPES.join(', ')}.`,
    );
  if (scopes.length === 0) throw new InvalidRequest('An app needs at least one scope.');
  return formatScope(canonicalScopes(scopes));
}

/** An app with its redirect URIs (product requirements, section 1). */
export interface RegisteredApp {
  clientId: string;
  name: string;
  kind: App['kind'];
  scopes: readonly Scope[];
  redirectUris: readonly string[];
  enabled: boolean;
  /** Whether the public pages of the app's posts are hidden. */
  postsHidden: boolean;
  /** Whether authorization requests must have a code challenge. True for every public app. */
  requiresPkce: boolean;
  createdAt: Date;
}

export interface Registration {
  /** A new id by default. */
  clientId?: string;
  name: string;
  kind: App['kind'];
  redirectUris: readonly string[];
  /** Space-separated. */
  scope: string;
  /** False by default. Public apps always require PKCE. */
  requiresPkce?: boolean;
  /** Allows a name that looks like that of another app. False by default. */
  allowSimilarName?: boolean;
}

/** Registered apps. Operators register and change them; the endpoints look them up. */
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
   * Registers an app.
   * @param also further changes in the same transaction
   * @returns the app and, if it is confidential, its client secret
   * @throws InvalidRequest when the name, a redirect URI or a scope is invalid, or the name looks like that of another app
   */
  async register(
    registration: Registration,
    change: Change,
    also: (tx: Transaction, clientId: string) => Promise<void> = async () => undefined,
  ): Promise<{ app: RegisteredApp; secret?: string }> {
    const name = validAppName(registration.name);
    const redirectUris = validRedirectUris(registration.redirectUris);
    const scope = validScope(registration.scope);
    const createdAt = this.clock.now();
    const { kind, clientId = newId('svc_app', createdAt) } = registration;
    const requiresPkce = kind === 'public' || registration.requiresPkce === true;
    const app: App = {
      clientId,
      name,
      kind,
      scope,
      status: 'enabled',
      requiresPkce,
      postsHiddenAt: null,
      createdAt,
    };
    return this.transactions.run(async (tx) => {
      await this.repository.insert(tx, app, redirectUris);
      const similar = await this.checkSimilarNames(tx, app, registration);
      const details = { name, kind, scope, redirectUris, requiresPkce, ...similar };
      await this.audit.record(tx, 'app.created', clientId, change, details);
      await also(tx, clientId);
      const added =
        kind === 'confidential' ? await this.secrets.add(tx, clientId, change) : undefined;
      return { app: toRegisteredApp(app, redirectUris), secret: added?.secret };
    });
  }

  async find(clientId: string): Promise<RegisteredApp | null> {
    const app = await this.repository.find(clientId);
    return app && toRegisteredApp(app, await this.repository.findRedirectUris(clientId));
  }

  /** @throws NotFound */
  async get(clientId: string): Promise<RegisteredApp> {
    const app = await this.repository.require(clientId);
    return toRegisteredApp(app, await this.repository.findRedirectUris(clientId));
  }

  async list(): Promise<RegisteredApp[]> {
    const apps = await this.repository.findAll();
    const redirectUris = await this.repository.findAllRedirectUris();
    return apps.map((app) => toRegisteredApp(app, redirectUris.get(app.clientId) ?? []));
  }

  /**
   * Whether CORS allows this origin: an origin of any enabled public app or, if the request names one app, of this app.
   * @param clientIds the apps that the request names; with two or more, no origin is allowed
   */
  async allowsOrigin(origin: string, clientIds: readonly string[] = []): Promise<boolean> {
    const normalized = corsOrigin(origin);
    if (normalized === undefined || clientIds.length > 1) return false;
    const [clientId] = clientIds;
    if (clientId !== undefined && !isId('svc_app', clientId)) return false;
    return this.repository.hasOrigin(normalized, clientId);
  }

  /**
   * Takes effect with the next request. Enabling an app shows its posts again.
   * @param options.hidePosts also hides the public pages of the posts of an app that is disabled, now or already
   * @throws NotFound
   */
  async changeStatus(
    clientId: string,
    status: App['status'],
    change: Change,
    { hidePosts = false } = {},
  ): Promise<RegisteredApp> {
    await this.repository.require(clientId);
    await this.transactions.run(async (tx) => {
      const changed = await this.repository.changeStatus(tx, clientId, status);
      const hidden = hidePosts && (await this.repository.hidePosts(tx, clientId, this.clock.now()));
      const details = hidden ? { postsHidden: true } : {};
      if (changed || hidden)
        await this.audit.record(tx, `app.${status}`, clientId, change, details);
    });
    return this.get(clientId);
  }

  /**
   * Replaces the given parts of a registration. Pending authorization requests with a removed redirect URI fail. Scopes that users
   * granted stay granted. Codes that were issued without PKCE stay valid when the app begins to require it.
   * @throws NotFound; InvalidRequest when the name, a redirect URI or a scope is invalid, the name looks like that of another app, or
   * a public app would not require PKCE
   */
  async update(
    clientId: string,
    registration: Partial<Omit<Registration, 'clientId' | 'kind'>>,
    change: Change,
  ): Promise<{ app: RegisteredApp; changed: boolean }> {
    const { name, redirectUris, scope, requiresPkce } = registration;
    const changes = {
      ...(name !== undefined && { name: validAppName(name) }),
      ...(redirectUris && { redirectUris: validRedirectUris(redirectUris) }),
      ...(scope !== undefined && { scope: validScope(scope) }),
      ...(requiresPkce !== undefined && { requiresPkce }),
    };
    return this.transactions.run(async (tx) => {
      await this.repository.lock(tx, clientId);
      const app = await this.repository.require(clientId, tx);
      if (app.kind === 'public' && requiresPkce === false)
        throw new InvalidRequest('A public app always requires PKCE.');
      const uris = await this.repository.findRedirectUris(clientId, tx);
      const before = {
        name: app.name,
        scope: app.scope,
        requiresPkce: app.kind === 'public' || app.requiresPkce,
        redirectUris: uris as readonly string[],
      };
      const after = { ...before, ...changes };
      const details = differences(before, after);
      const changed = Object.keys(details).length > 0;
      const { redirectUris: newUris, ...fields } = after;
      if (changed) {
        const renamed = { clientId, name: after.name };
        await this.repository.update(tx, clientId, fields);
        const similar =
          'name' in details ? await this.checkSimilarNames(tx, renamed, registration) : {};
        if ('redirectUris' in details)
          await this.repository.replaceRedirectUris(tx, clientId, newUris);
        await this.audit.record(tx, 'app.updated', clientId, change, {
          ...details,
          ...similar,
        });
      }
      return { app: toRegisteredApp(Object.assign(app, fields), newUris), changed };
    });
  }

  /**
   * Returns the client id of an app whose name looks like that of `app`, if there is one, for the audit log. Call it after `app` is
   * written: on SQLite, a transaction that reads first fails if another process writes before it does.
   * @throws InvalidRequest when there is one, unless `allowSimilarName`
   */
  private async checkSimilarNames(
    tx: Transaction,
    app: Pick<App, 'clientId' | 'name'>,
    { allowSimilarName = false }: Pick<Registration, 'allowSimilarName'>,
  ): Promise<{ similarTo?: string }> {
    const key = appNameKey(app.name);
    const similar = (await this.repository.findAll(tx)).find(
      ({ clientId, name }) => clientId !== app.clientId && appNameKey(name) === key,
    );
    if (!similar) return {};
    if (!allowSimilarName)
      throw new InvalidRequest(
        `The name looks like that of the app "${similar.name}" (${similar.clientId}). Add --allow-similar-name to use it nevertheless.`,
      );
    return { similarTo: similar.clientId };
  }
}

/** The changed properties, each with its old and new value. */
function differences<T extends object>(before: T, after: T): Record<string, object> {
  const names = Object.keys(before) as (keyof T & string)[];
  const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  return Object.fromEntries(changed.map((name) => [name, { from: before[name], to: after[name] }]));
}

function toRegisteredApp(app: App, redirectUris: readonly string[]): RegisteredApp {
  const { clientId, name, kind, scope, status, postsHiddenAt, requiresPkce, createdAt } = app;
  return {
    clientId,
    name,
    kind,
    scopes: parseScope(scope),
    redirectUris,
    enabled: status === 'enabled',
    postsHidden: postsHiddenAt !== null,
    requiresPkce: kind === 'public' || requiresPkce,
    createdAt,
  };
}
