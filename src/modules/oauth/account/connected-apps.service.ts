import { Injectable } from '@nestjs/common';
import { canonicalScopes } from '../../../platform/access/scopes.js';
import { Clock } from '../../../platform/clock.js';
import { type ActiveGrantGroup, GrantsRepository } from '../tokens/grants.repository.js';
import { type AppSummary, GrantsService } from '../tokens/grants.service.js';

/** The apps that have access to a user's account. */
@Injectable()
export class ConnectedAppsService {
  constructor(
    private readonly grantsRepository: GrantsRepository,
    private readonly grants: GrantsService,
    private readonly clock: Clock,
  ) {}

  /** Sorted by name. */
  async list(userId: string): Promise<ActiveGrantGroup[]> {
    return mergeByApp(await this.grantsRepository.findActive(userId, this.clock.now()));
  }

  async find(userId: string, clientId: string): Promise<ActiveGrantGroup | undefined> {
    return mergeByApp(
      await this.grantsRepository.findActive(userId, this.clock.now(), [clientId]),
    )[0];
  }

  /** @returns the apps that lost access */
  revoke(userId: string, clientIds: readonly string[] | 'all'): Promise<AppSummary[]> {
    return this.grants.revokeForUser(userId, clientIds, { actor: userId, reason: 'by the user' });
  }
}

/** Merges the grants of the same app to one entry with all their scopes, and sorts the entries by name. */
function mergeByApp(grants: readonly ActiveGrantGroup[]): ActiveGrantGroup[] {
  const apps = new Map<string, ActiveGrantGroup>();
  for (const grant of grants) {
    const app = apps.get(grant.clientId);
    apps.set(grant.clientId, app ? merge(app, grant) : grant);
  }
  return [...apps.values()].toSorted(
    (one, other) =>
      one.name.localeCompare(other.name, 'en') || one.clientId.localeCompare(other.clientId),
  );
}

function merge(one: ActiveGrantGroup, other: ActiveGrantGroup): ActiveGrantGroup {
  const uses = [one.lastUsedAt, other.lastUsedAt].filter((time) => time !== null);
  return {
    ...one,
    scopes: canonicalScopes([...one.scopes, ...other.scopes]),
    grantedAt: one.grantedAt < other.grantedAt ? one.grantedAt : other.grantedAt,
    lastUsedAt: uses.toSorted((left, right) => right.getTime() - left.getTime())[0] ?? null,
  };
}
