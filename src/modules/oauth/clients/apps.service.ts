import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { parseScope, type Scope, SCOPES } from '../../../platform/access/scopes.js';
import { AuditLog, type Change } from '../../../platform/audit/audit-log.repository.js';
import { Clock } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { type Transaction, TransactionRunner } from '../../../platform/database/transaction.js';
import { InvalidRequest } from '../../../platform/errors.js';
import { isId, newId } from '../../../platform/ids.js';
import { type ImageType, imageTypeOf } from '../../../platform/logo-file.js';
import { sha256 } from '../../../platform/secrets.js';
import { corsOrigin } from '../protocol/redirect-uri.js';
import { lockText } from '../rate-limit/rate-limit.repository.js';
import {
  changedIdentity,
  identityOf,
  type IdentityChanges,
  NO_IDENTITY,
  validIdentity,
  parseOrigins,
  validAppName,
  validOrigins,
  validRedirectUris,
  validScope,
} from './registration-values.js';
import { AppSecretsService, once } from './app-secrets.service.js';
import { AppsRepository } from './apps.repository.js';
import { resemblanceOf } from './similar-names.js';
import type { App } from './client.entities.js';

/** Locked before a name is stored, so that of two similar names at once, one finds the other. */
const ALL_NAMES = 'app names';

interface NameOptions extends Pick<Registration, 'allowSimilarName'> {
  /** Whether the change ends the verification of the app. */
  isUnverified?: boolean;
}

/** What users take an app for. */
const NAMES = ['name', 'publisher'] as const;

/** An app with its redirect URIs (product requirements, section 1). */
export interface RegisteredApp extends Omit<App, 'scope' | 'status' | 'postsHiddenAt' | 'origins'> {
  scopes: readonly Scope[];
  redirectUris: readonly string[];
  /** Origins of a public app besides those of its redirect URIs. */
  origins: readonly string[];
  enabled: boolean;
  /** Whether the public pages of the app's posts are hidden. */
  postsHidden: boolean;
  /** Whether authorization requests must have a code challenge. True for every public app. */
  requiresPkce: boolean;
}

export interface Registration extends IdentityChanges {
  /** A new id by default. */
  clientId?: string;
  name: string;
  kind: App['kind'];
  redirectUris: readonly string[];
  /** None by default. Only for public apps. */
  origins?: readonly string[];
  /** Space-separated. */
  scope: string;
  /** False by default. Public apps always require PKCE. */
  requiresPkce?: boolean;
  /** Whether it is a test app. False by default. */
  test?: boolean;
  /** The lifetime of the access tokens of a test app. The default of all apps if absent. */
  accessTokenSeconds?: number;
  /** The operator's own reference; null removes it. None by default. */
  reference?: string | null;
  /** Allows a name that looks like that of another app, or of something else (similar-names.ts). False by default. */
  allowSimilarName?: boolean;
}

/** An app and, if it is confidential, its client secret. */
export interface CreatedApp {
  app: RegisteredApp;
  secret?: string;
}

interface RegistrationSteps {
  also?: (tx: Transaction, clientId: string) => Promise<void>;
  show?: (created: CreatedApp) => Promise<void>;
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
    private readonly config: AppConfig,
  ) {}

  /** The app for which Swagger UI runs the flow; null if the operator has registered none. */
  findDocsApp(): Promise<App | null> {
    return this.repository.findPublicByRedirectUri(this.config.docsRedirectUri);
  }

  /**
   * The values of an app for Swagger UI.
   * @throws InvalidRequest if there is one already
   */
  async docsRegistration(): Promise<
    Pick<Registration, 'name' | 'kind' | 'redirectUris' | 'scope'>
  > {
    const existing = await this.findDocsApp();
    if (existing)
      throw new InvalidRequest(
        `The documentation already uses the app "${existing.name}" (${existing.clientId}). To replace it, disable it first.`,
      );
    return {
      name: 'API documentation',
      kind: 'public',
      redirectUris: [this.config.docsRedirectUri],
      scope: SCOPES.join(' '),
    };
  }

  /**
   * Registers an app.
   * @param options.also further changes in the same transaction
   * @param options.show shows the secret before the commit. If it fails, nothing changes.
   * @returns the app and, if it is confidential, its client secret
   * @throws InvalidRequest when a value is invalid, or the name looks like that of another app
   */
  async register(
    registration: Registration,
    change: Change,
    { also, show }: RegistrationSteps = {},
  ): Promise<CreatedApp> {
    const name = validAppName(registration.name);
    const redirectUris = validRedirectUris(registration.redirectUris, this.config);
    const scope = validScope(registration.scope);
    const identity = changedIdentity(NO_IDENTITY, validIdentity(registration));
    const createdAt = this.clock.now();
    const { kind, test = false, accessTokenSeconds = null } = registration;
    if (accessTokenSeconds !== null && !test)
      throw new InvalidRequest('Only a test app can have a lifetime of its own.');
    const { clientId = newId(test ? 'svc_app_test' : 'svc_app', createdAt) } = registration;
    const requiresPkce = kind === 'public' || registration.requiresPkce === true;
    const origins = validOrigins(registration.origins ?? [], kind);
    const app: App = {
      clientId,
      name,
      kind,
      scope,
      status: 'enabled',
      requiresPkce,
      origins,
      postsHiddenAt: null,
      reference: registration.reference ?? null,
      ...identity,
      test,
      accessTokenSeconds,
      createdAt,
    };
    const newSecret = kind === 'confidential' ? this.secrets.create() : undefined;
    const created = { app: toRegisteredApp(app, redirectUris), secret: newSecret?.secret };
    const showOnce = show && once(show);
    return this.transactions.run(async (tx) => {
      await lockText(tx, ALL_NAMES);
      await this.repository.insert(tx, app, redirectUris);
      if (registration.logo) await this.repository.replaceLogo(tx, clientId, registration.logo);
      const similar = await this.checkNames(tx, app, NAMES, registration);
      const details = {
        name,
        kind,
        scope,
        redirectUris,
        requiresPkce,
        ...setValues({ origins, reference: app.reference, test, accessTokenSeconds, ...identity }),
        ...similar,
      };
      await this.audit.record(tx, 'app.created', clientId, change, details);
      await also?.(tx, clientId);
      if (newSecret) await this.secrets.add(tx, clientId, newSecret, change);
      await showOnce?.(created);
      return created;
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

  /** Undefined if this is not the hash of the app's current logo. */
  async findLogo(
    clientId: string,
    hash: string,
  ): Promise<{ type: ImageType; content: Buffer } | undefined> {
    const content = await this.repository.findLogo(clientId);
    if (!content || sha256(content) !== hash) return undefined;
    const type = imageTypeOf(content);
    return type && { type, content };
  }

  async list(): Promise<RegisteredApp[]> {
    const apps = await this.repository.findAll();
    const redirectUris = await this.repository.findAllRedirectUris();
    return apps.map((app) => toRegisteredApp(app, redirectUris.get(app.clientId) ?? []));
  }

  /**
   * Whether CORS allows this origin: an origin of any enabled public app or, if the request names one app, of this app. Web views and
   * extensions have origins with other schemes, which no redirect URI has.
   * @param clientIds the apps that the request names; with two or more, no origin is allowed
   */
  async allowsOrigin(origin: string, clientIds: readonly string[] = []): Promise<boolean> {
    if (clientIds.length > 1) return false;
    const [clientId] = clientIds;
    if (clientId !== undefined && !isId('svc_app', clientId)) return false;
    const webOrigin = corsOrigin(origin);
    if (webOrigin !== undefined && (await this.repository.hasOrigin(webOrigin, clientId)))
      return true;
    return this.repository.hasRegisteredOrigin(webOrigin ?? origin, clientId);
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

  /** Makes an app of the demo of 1.1 a test app, together with its users. */
  async convertToTest(tx: Transaction, clientId: string, change: Change): Promise<void> {
    await this.repository.update(tx, clientId, { test: true });
    await this.audit.record(tx, 'app.updated', clientId, change, { test: true });
  }

  /**
   * Replaces the given parts of a registration. Pending authorization requests with a removed redirect URI fail. Scopes that users
   * granted stay granted. Codes that were issued without PKCE stay valid when the app begins to require it. Another publisher ends
   * the verification, unless `isVerified` is true.
   * @throws NotFound; InvalidRequest when a value is invalid, the name looks like that of another app, a public app would not
   * require PKCE, or a verified app would have no publisher
   */
  async update(
    clientId: string,
    registration: Partial<Omit<Registration, 'clientId' | 'kind' | 'test' | 'accessTokenSeconds'>>,
    change: Change,
  ): Promise<{ app: RegisteredApp; changed: boolean }> {
    const { name, redirectUris, origins, scope, requiresPkce, reference } = registration;
    const identity = validIdentity(registration);
    return this.transactions.run(async (tx) => {
      const { publisher, isVerified } = registration;
      if ([name, publisher, isVerified].some((value) => value !== undefined))
        await lockText(tx, ALL_NAMES);
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
        origins: app.origins,
        reference: app.reference,
        ...identityOf(app),
      };
      const changes = {
        ...(name !== undefined && { name: validAppName(name) }),
        ...(redirectUris && { redirectUris: validRedirectUris(redirectUris, this.config, uris) }),
        ...(origins && { origins: validOrigins(origins, app.kind) }),
        ...(scope !== undefined && { scope: validScope(scope) }),
        ...(requiresPkce !== undefined && { requiresPkce }),
        ...(reference !== undefined && { reference }),
      };
      const after = { ...before, ...changes, ...changedIdentity(identityOf(app), identity) };
      const details = differences(before, after);
      const changed = Object.keys(details).length > 0;
      const { redirectUris: newUris, ...fields } = after;
      if (changed) {
        await this.repository.update(tx, clientId, fields);
        const renamed = NAMES.filter((field) => field in details);
        const isUnverified = app.isVerified && !fields.isVerified;
        const similar = await this.checkNames(
          tx,
          { clientId, test: app.test, ...fields },
          renamed,
          {
            isUnverified,
            // The end of a verification alone is never refused.
            allowSimilarName: registration.allowSimilarName ?? renamed.length === 0,
          },
        );
        if ('redirectUris' in details)
          await this.repository.replaceRedirectUris(tx, clientId, newUris);
        if ('logoHash' in details)
          await this.repository.replaceLogo(tx, clientId, registration.logo ?? null);
        await this.audit.record(tx, 'app.updated', clientId, change, {
          ...details,
          ...similar,
        });
      }
      return { app: toRegisteredApp(Object.assign(app, fields), newUris), changed };
    });
  }

  /**
   * Returns what the new name or publisher of `app` looks like, for the audit log. Call it after `app` is written: on SQLite, a
   * transaction that reads first fails if another process writes before it does.
   * @throws InvalidRequest when it looks like something else, unless `allowSimilarName`
   */
  private async checkNames(
    tx: Transaction,
    app: Pick<App, 'clientId' | 'name' | 'publisher' | 'isVerified' | 'test'>,
    changed: readonly (typeof NAMES)[number][],
    { allowSimilarName = false, isUnverified = false }: NameOptions,
  ): Promise<{ similarTo?: string }> {
    if (changed.length === 0 && !isUnverified) return {};
    // A partner's test app has the name of its real one, and no user can authorize both.
    const apps = (await this.repository.findAll(tx)).filter(({ test }) => test === app.test);
    // A verified app may have a name that others may not.
    const verified = { ...app, isVerified: true };
    const wasExempt = isUnverified && !resemblanceOf(verified, NAMES, apps, this.config);
    const found = resemblanceOf(app, wasExempt ? NAMES : changed, apps, this.config);
    if (!found) return {};
    const { similarTo, problem } = found;
    if (allowSimilarName) return { similarTo };
    throw new InvalidRequest(`${problem}. Add --allow-similar-name to use it nevertheless.`);
  }
}

/** The values that are neither null nor false. */
function setValues(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => Boolean(value)));
}

/** The changed properties, each with its old and new value. */
function differences<T extends object>(before: T, after: T): Record<string, object> {
  const names = Object.keys(before) as (keyof T & string)[];
  const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  return Object.fromEntries(changed.map((name) => [name, { from: before[name], to: after[name] }]));
}

function toRegisteredApp(app: App, redirectUris: readonly string[]): RegisteredApp {
  const { scope, status, postsHiddenAt, origins, ...rest } = app;
  return {
    ...rest,
    scopes: parseScope(scope),
    redirectUris,
    origins: parseOrigins(origins),
    enabled: status === 'enabled',
    postsHidden: postsHiddenAt !== null,
    requiresPkce: app.kind === 'public' || app.requiresPkce,
  };
}
