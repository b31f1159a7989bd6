import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { canonicalScopes, type Scope } from '../../../platform/access/scopes.js';
import { GrantsService, type AppName } from '../tokens/grants.service.js';
import { GrantsRepository, type LiveGrants } from '../tokens/grants.repository.js';

/** An app that has access to a user's account, by one grant or several. */
export interface ConnectedApp extends AppName {
  /** Of all grants together. */
  scopes: readonly Scope[];
  /** The first time. */
  grantedAt: Date;
  /** Null before the first time. */
  lastUsedAt: Date | null;
}

/** The apps that have access to a user's account. */
@Injectable()
export class ConnectedAppsService {
  constructor(
    private readonly grants: GrantsRepository,
    private readonly revocation: GrantsService,
    private readonly clock: Clock,
  ) {}

  /** By name. */
  async list(userId: string): Promise<ConnectedApp[]> {
    return connectedApps(await this.grants.findLive(userId, this.clock.now()));
  }

  /** One of them, or undefined when it has no access. */
  async find(userId: string, clientId: string): Promise<ConnectedApp | undefined> {
    return connectedApps(await this.grants.findLive(userId, this.clock.now(), [clientId]))[0];
  }

  /** Takes the access of these apps back, or of all, at once. Answers those that had some. */
  revoke(userId: string, clientIds: readonly string[] | 'all'): Promise<AppName[]> {
    return this.revocation.revokeOf(userId, clientIds, { actor: userId, reason: 'by the user' });
  }
}

function connectedApps(grants: readonly LiveGrants[]): ConnectedApp[] {
  const apps = new Map<string, ConnectedApp>();
  for (const grant of grants) {
    const app = apps.get(grant.clientId);
    apps.set(grant.clientId, app ? joined(app, grant) : grant);
  }
  return [...apps.values()].toSorted(
    (one, other) =>
      one.name.localeCompare(other.name, 'en') || one.clientId.localeCompare(other.clientId),
  );
}

function joined(app: ConnectedApp, { scopes, grantedAt, lastUsedAt }: LiveGrants): ConnectedApp {
  return {
    ...app,
    scopes: canonicalScopes([...app.scopes, ...scopes]),
    grantedAt: grantedAt < app.grantedAt ? grantedAt : app.grantedAt,
    lastUsedAt: newest(app.lastUsedAt, lastUsedAt),
  };
}

function newest(one: Date | null, other: Date | null): Date | null {
  if (!one || !other) return one ?? other;
  return one > other ? one : other;
}
