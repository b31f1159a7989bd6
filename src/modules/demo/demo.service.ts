import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { SCOPES } from '../../platform/access/scopes.js';
import { Clock } from '../../platform/clock.js';
import { AppConfig, DEMO_DOCS_CLIENT_ID } from '../../platform/config/app-config.js';
import { isDuplicateKey } from '../../platform/database/errors.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { InvalidRequest } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { CommentsService } from '../comments/comments.service.js';
import { AppsService, type Registration } from '../oauth/clients/apps.service.js';
import { GrantOpener } from '../oauth/tokens/grants.service.js';
import { TokenIssuer } from '../oauth/tokens/token-issuer.js';
import type { PostDraft } from '../posts/create-post.request.js';
import { PostsService } from '../posts/posts.service.js';
import { Publisher } from '../posts/publisher.service.js';
import { type NewUser, PhoneTaken, UsersService } from '../users/users.service.js';

/** Ids of the demo are fixed: they tell a demo database from a real one, and examples may name them. */
export const DEMO_USER_ID = 'usr_00000000000000000000000001';
const DEMO_NEIGHBOUR_ID = 'usr_00000000000000000000000002';
export const DEMO_PUBLIC_CLIENT_ID = 'svc_app_00000000000000000000000001';
export const DEMO_CONFIDENTIAL_CLIENT_ID = 'svc_app_00000000000000000000000002';

export const ana: NewUser & { id: string } = {
  id: DEMO_USER_ID,
  phone: '+14155550101',
  name: 'Ana Lee',
  photoUrl: 'https://example.com/photos/ana.jpg',
  karma: 128,
  neighborhood: 'Riverside',
  latitude: 37.7749,
  longitude: -122.4194,
};

export const ben: NewUser & { id: string } = {
  id: DEMO_NEIGHBOUR_ID,
  phone: '+14155550102',
  name: 'Ben Okafor',
  karma: 64,
  neighborhood: 'Riverside',
};

const ALL_SCOPES = 'profile.read posts.read posts.write analytics.read';

export type DemoApp = Registration & { clientId: string };

export function demoApps(publicUrl: string): DemoApp[] {
  return [
    {
      clientId: DEMO_PUBLIC_CLIENT_ID,
      name: 'Garden Share (demo)',
      kind: 'public',
      redirectUris: ['http://127.0.0.1/callback'],
      scope: ALL_SCOPES,
    },
    {
      clientId: DEMO_CONFIDENTIAL_CLIENT_ID,
      name: 'Block Board (demo)',
      kind: 'confidential',
      redirectUris: ['http://localhost:8080/callback'],
      scope: ALL_SCOPES,
    },
    {
      clientId: DEMO_DOCS_CLIENT_ID,
      name: 'API documentation (demo)',
      kind: 'public',
      redirectUris: [`${publicUrl}/docs/oauth2-redirect.html`],
      scope: ALL_SCOPES,
    },
  ];
}

export const anasPosts: readonly { draft: PostDraft; likedByBen: boolean; bensComment?: string }[] =
  [
    {
      draft: {
        title: 'Block party on Saturday',
        content: 'Bring a chair and something to share.',
        tags: ['party'],
        type: 'event',
      },
      likedByBen: true,
      bensComment: 'Count me in! I bring the grill.',
    },
    {
      draft: {
        content: 'Found a grey cat near the playground. Is it yours?',
        tags: ['lost and found'],
        reachKm: 2,
      },
      likedByBen: true,
      bensComment: 'It looks like the one from number 12.',
    },
    {
      draft: { content: 'Our tool library is open on Sundays from ten to noon.' },
      likedByBen: false,
    },
  ];

/** What a demo database was seeded with; the secret is told this once, by the start that made it. */
export interface SeededDemo {
  clientSecret?: string;
}

const CHANGE = { actor: 'demo' };

/** What a demo has to offer whoever tries it. */
export const demoGuide = {
  phone: ana.phone,
  publicClientId: DEMO_PUBLIC_CLIENT_ID,
  confidentialClientId: DEMO_CONFIDENTIAL_CLIENT_ID,
} as const;

/** Something to try on a database that was empty. */
@Injectable()
export class DemoService {
  constructor(
    private readonly users: UsersService,
    private readonly apps: AppsService,
    private readonly posts: PostsService,
    private readonly publisher: Publisher,
    private readonly comments: CommentsService,
    private readonly grants: GrantOpener,
    private readonly tokens: TokenIssuer,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Seeds three apps, two users and some posts into a database without users and apps, or goes on where an earlier start was
   * interrupted. Answers undefined when there was nothing to do. Several processes may do so at once.
   */
  async seedIfEmpty(): Promise<SeededDemo | undefined> {
    const present = new Set((await this.apps.list()).map(({ clientId }) => clientId));
    const registrations = demoApps(this.config.publicUrl);
    const ours = new Set(registrations.map(({ clientId }) => clientId));
    if (![...present].every((clientId) => ours.has(clientId))) return undefined;
    if (!(await this.isUnfinished())) return undefined;
    return this.seed(registrations.filter(({ clientId }) => !present.has(clientId)));
  }

  /** Whether the database was seeded by this service. */
  async isSeeded(): Promise<boolean> {
    return (await this.users.active(DEMO_USER_ID)) !== null;
  }

  /**
   * An access token of the demo user with every scope, without the consent page.
   * @throws InvalidRequest on a database that is not a demo
   */
  async accessToken(): Promise<string> {
    if (this.config.production || !(await this.isSeeded())) {
      throw new InvalidRequest(
        'This database is not a demo. Start the service once on an empty database to get one, with DEMO=1 on MySQL and MariaDB.',
      );
    }
    const { accessToken } = await this.transactions.run(async (tx) => {
      const grant = await this.grants.open(tx, DEMO_USER_ID, DEMO_PUBLIC_CLIENT_ID, SCOPES);
      return this.tokens.issue(tx, grant, SCOPES);
    });
    return accessToken;
  }

  /** Ben is the mark: apps and Ana come before, and whoever adds Ben publishes the posts. */
  private async isUnfinished(): Promise<boolean> {
    if (await this.users.isEmpty()) return true;
    return (await this.isSeeded()) && (await this.users.active(ben.id)) === null;
  }

  private async seed(registrations: DemoApp[]): Promise<SeededDemo> {
    let clientSecret: string | undefined;
    try {
      for (const registration of registrations) {
        const { secret } = await this.apps.register(registration, CHANGE);
        clientSecret ??= secret;
      }
      if (!(await this.isSeeded())) await this.users.add(ana, CHANGE);
      await this.users.add(ben, CHANGE);
    } catch (error) {
      // Another process seeds at the same time, and is ahead: the rest is up to it.
      if (isDuplicateKey(error) || error instanceof PhoneTaken) return { clientSecret };
      throw error;
    }
    for (const post of anasPosts) await this.publish(post);
    return { clientSecret };
  }

  private async publish({
    draft,
    likedByBen,
    bensComment,
  }: (typeof anasPosts)[number]): Promise<void> {
    const now = this.clock.now();
    const caller: Caller = {
      userId: ana.id,
      clientId: DEMO_CONFIDENTIAL_CLIENT_ID,
      grantId: newId('grt', now),
      scopes: SCOPES,
      postLimit: null,
      requestId: newId('req', now),
      receivedAt: now,
    };
    const { made } = await this.publisher.publish(caller, draft);
    const { id } = made;
    if (likedByBen) await this.posts.like(ben.id, id);
    if (bensComment !== undefined) {
      await this.comments.add(ana.id, id, { text: bensComment, parentId: null, authorId: ben.id });
    }
  }
}
