import { type Scope, SCOPES } from '../../../src/platform/access/scopes.js';
import { QuotaService } from '../../../src/modules/quota/quota.service.js';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { Member } from '../../support/member.js';
import type { TestApp, TestClient } from '../../support/test-app.js';
import { type Actor, type AppName, APPS, PEOPLE } from './api-call.js';
import type { ModelSetup, Profile } from './platform-model.js';

/** Monthly quotas. That of Garden is low enough to be used up in most sequences. */
export const LIMITS: Readonly<Record<AppName, number | null>> = { Garden: 2, Street: null };

const REGISTERED_SCOPES: Readonly<Record<AppName, readonly Scope[]>> = {
  Garden: SCOPES,
  Street: ['posts.read', 'posts.write', 'analytics.read'],
};
/** This person grants this app read access only. */
const READER: Actor = { person: 'Cleo', app: 'Garden' };

const PROFILES = {
  Ana: { photoUrl: 'https://example.com/ana.jpg', karma: 128, neighborhood: 'Riverside' },
  Ben: { photoUrl: null, karma: 0, neighborhood: null },
  Cleo: { photoUrl: null, karma: 7, neighborhood: 'Old Mill' },
} as const;

/** The people and apps of one sequence. */
export class Actors {
  private constructor(
    readonly people: ModelSetup['people'],
    private readonly members: ReadonlyMap<string, Member>,
  ) {}

  /** Adds the users and apps, and an access token for each pair. */
  static async create(app: TestApp): Promise<Actors> {
    const users = await Promise.all(
      PEOPLE.map(async (name) => [name, await app.addUser({ name, ...PROFILES[name] })] as const),
    );
    const clients = await Promise.all(
      APPS.map(async (name) => [name, await clientOf(app, name)] as const),
    );
    const members = users.flatMap(([person, user]) =>
      clients.map(async ([name, client]) => {
        const actor = { person, app: name };
        const scopes = scopesOf(actor);
        return [keyOf(actor), await Member.join(app, { user, client, scopes })] as const;
      }),
    );
    const people = users.map(([name, user]) => [name, profileOf(user)] as const);
    return new Actors(
      Object.fromEntries(people) as ModelSetup['people'],
      new Map(await Promise.all(members)),
    );
  }

  memberOf(actor: Actor): Member {
    const member = this.members.get(keyOf(actor));
    if (!member) throw new Error(`${keyOf(actor)} does not exist.`);
    return member;
  }

  /** The scopes that the person granted the app. */
  readonly scopesOf = scopesOf;
}

async function clientOf(app: TestApp, name: AppName): Promise<TestClient> {
  const client = await app.addClient({ name, scope: REGISTERED_SCOPES[name].join(' ') });
  const limit = LIMITS[name];
  await app.service(QuotaService).set(client.clientId, { limit }, { actor: 'test' });
  return client;
}

function profileOf({ id, name, photoUrl, karma, neighborhood }: UserWithPhone): Profile {
  return { id, name, photoUrl, karma, neighborhood };
}

function scopesOf({ person, app }: Actor): readonly Scope[] {
  const isReader = person === READER.person && app === READER.app;
  return isReader ? ['profile.read', 'posts.read'] : REGISTERED_SCOPES[app];
}

function keyOf({ person, app }: Actor): string {
  return `${person} ${app}`;
}
