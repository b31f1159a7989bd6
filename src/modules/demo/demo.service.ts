import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { SCOPES } from '../../platform/access/scopes.js';
import { Clock } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { ConfigError } from '../../platform/config/load-config.js';
import { isDuplicateKey } from '../../platform/database/errors.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { newId } from '../../platform/ids.js';
import { CommentsService } from '../comments/comments.service.js';
import { AppsService, type Registration } from '../oauth/clients/apps.service.js';
import type { PostDraft } from '../posts/create-post.request.js';
import { PostsService } from '../posts/posts.service.js';
import { isTestUser } from '../users/test-members.js';
import { type NewUser, PhoneTaken, UsersService } from '../users/users.service.js';

/** Fixed ids, which identify a demo database and can be used in examples. */
export const DEMO_USER_ID = 'usr_00000000000000000000000001';
export const DEMO_PUBLIC_CLIENT_ID = 'svc_app_test_00000000000000000000000001';
export const DEMO_CONFIDENTIAL_CLIENT_ID = 'svc_app_test_00000000000000000000000002';
export const DEMO_DOCS_CLIENT_ID = 'svc_app_test_00000000000000000000000003';

/** The fixed code of the demo users, who are test members. */
export const DEMO_CODE = '424242';

/** The apps of a demo that 1.1 seeded, in the order of the ids above. There, apps and users are real, until `seedIfNeeded`. */
const OLD_CLIENT_IDS = [1, 2, 3].map((number) => `svc_app_${String(number).padStart(26, '0')}`);

export const ana = {
  id: DEMO_USER_ID,
  phone: '+14155550101',
  name: 'Ana Lee',
  karma: 128,
  neighborhood: 'Riverside',
  latitude: 37.7749,
  longitude: -122.4194,
} satisfies NewUser;

export const ben = {
  id: 'usr_00000000000000000000000002',
  phone: '+14155550102',
  name: 'Ben Okafor',
  karma: 64,
  neighborhood: 'Riverside',
} satisfies NewUser;

const ALL_SCOPES = SCOPES.join(' ');

type DemoApp = Registration & { clientId: string };

export function demoApps({ docsRedirectUri }: AppConfig): DemoApp[] {
  return [
    {
      clientId: DEMO_PUBLIC_CLIENT_ID,
      name: 'Garden Share (demo)',
      test: true,
      publisher: 'Garden Share Ltd',
      homepageUrl: 'https://garden.example',
      isVerified: true,
      kind: 'public',
      redirectUris: ['http://127.0.0.1/callback'],
      scope: ALL_SCOPES,
    },
    {
      clientId: DEMO_CONFIDENTIAL_CLIENT_ID,
      name: 'Block Board (demo)',
      test: true,
      kind: 'confidential',
      redirectUris: ['http://localhost:8080/callback'],
      scope: ALL_SCOPES,
    },
    {
      clientId: DEMO_DOCS_CLIENT_ID,
      name: 'API documentation (demo)',
      test: true,
      kind: 'public',
      redirectUris: [docsRedirectUri],
      scope: ALL_SCOPES,
    },
  ];
}

interface DemoPost {
  draft: PostDraft;
  likedByBen: boolean;
  bensComment?: string;
}

export const anasPosts: readonly DemoPost[] = [
  {
    draft: {
      title: 'Block party on Saturday',
      content: 'Bring a chair and something to share.',
      tags: ['party'],
      type: 'event',
    },
    likedByBen: true,
    bensComment: "Count me in! I'll bring the grill.",
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

/** `clientSecret` is only present if this call created the confidential app. */
export interface SeededDemo {
  clientSecret?: string;
}

const AUDIT_CONTEXT = { actor: 'demo' };

/** Seeds example data into an empty database, and recognizes a seeded database. */
@Injectable()
export class DemoService {
  constructor(
    private readonly users: UsersService,
    private readonly apps: AppsService,
    private readonly posts: PostsService,
    private readonly comments: CommentsService,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Seeds three test apps, two test members and some posts into a database without users and without apps other than the demo apps.
   * Continues a seeding that was interrupted before its last user was added. Makes the apps and users of a demo of 1.1 test apps and test
   * members, and adds the new apps. Leaves a demo with other apps or users as it is: they are real, and use the demo users or apps. Safe
   * to run concurrently.
   * @returns undefined if there was nothing to seed
   */
  async seedIfNeeded(): Promise<SeededDemo | undefined> {
    const existingIds = (await this.apps.list()).map(({ clientId }) => clientId);
    const apps = demoApps(this.config);
    const known = [...OLD_CLIENT_IDS, ...apps.map(({ clientId }) => clientId)];
    if (existingIds.some((id) => !known.includes(id))) return undefined;
    const isOld = (await this.isSeeded()) && !(await this.isTestMode());
    if (isOld) {
      if (await this.users.hasOthers([ana.id, ben.id])) return undefined;
      await this.convert(existingIds.filter((id) => OLD_CLIENT_IDS.includes(id)));
    } else if (!(await this.needsSeeding())) return undefined;
    return this.seed(apps.filter(({ clientId }) => !existingIds.includes(clientId)));
  }

  /** Makes the apps and users of 1.1 test apps and test members. */
  private convert(clientIds: readonly string[]): Promise<void> {
    return this.transactions.run(async (tx) => {
      for (const id of clientIds) await this.apps.convertToTest(tx, id, AUDIT_CONTEXT);
      for (const { id } of [ana, ben])
        await this.users.convertToTest(tx, id, DEMO_CODE, AUDIT_CONTEXT);
    });
  }

  /** @throws ConfigError in production, if a demo app is enabled: the ids of the demo apps and the phones of the demo users are public */
  async refuseInProduction(): Promise<void> {
    if (!this.config.production) return;
    const newIds = demoApps(this.config).map(({ clientId }) => clientId);
    const demoIds = [...OLD_CLIENT_IDS, ...newIds];
    const enabled = (await this.apps.list())
      .filter((app) => app.enabled && demoIds.includes(app.clientId))
      .map(({ clientId }) => clientId);
    if (enabled.length > 0)
      throw new ConfigError([
        `DATABASE_URL: the database has enabled demo apps (${enabled.join(', ')}), whose ids are public; use another database, or disable each with "app disable"`,
      ]);
  }

  /** Whether this is a demo database. */
  async isSeeded(): Promise<boolean> {
    return (await this.users.active(DEMO_USER_ID)) !== null;
  }

  /** Whether the demo users are test members. False for a demo of 1.1 that `seedIfNeeded` left as it was. */
  async isTestMode(): Promise<boolean> {
    const user = await this.users.active(DEMO_USER_ID);
    return user !== null && isTestUser(user);
  }

  /** The public and the confidential app of this demo. */
  async clientIds(): Promise<readonly [publicId: string, confidentialId: string]> {
    if (await this.isTestMode()) return [DEMO_PUBLIC_CLIENT_ID, DEMO_CONFIDENTIAL_CLIENT_ID];
    const [publicId = '', confidentialId = ''] = OLD_CLIENT_IDS;
    return [publicId, confidentialId];
  }

  /** Ben is added last: without him, the seeding is incomplete. The process that adds him publishes the posts. */
  private async needsSeeding(): Promise<boolean> {
    if (await this.users.isEmpty()) return true;
    return (await this.isSeeded()) && (await this.users.active(ben.id)) === null;
  }

  private async seed(registrations: DemoApp[]): Promise<SeededDemo> {
    let clientSecret: string | undefined;
    try {
      for (const registration of registrations) {
        // The apps of 1.1 have the same names.
        const values = { ...registration, allowSimilarName: true };
        const { secret } = await this.apps.register(values, AUDIT_CONTEXT);
        clientSecret ??= secret;
      }
      const test = { code: DEMO_CODE };
      if (!(await this.isSeeded())) await this.users.add(ana, AUDIT_CONTEXT, test);
      if ((await this.users.active(ben.id)) !== null) return { clientSecret };
      await this.users.add(ben, AUDIT_CONTEXT, test);
    } catch (error) {
      // Another process is seeding too, and publishes the posts.
      if (isDuplicateKey(error) || error instanceof PhoneTaken) return { clientSecret };
      throw error;
    }
    for (const post of anasPosts) await this.publish(post);
    return { clientSecret };
  }

  private async publish({ draft, likedByBen, bensComment }: DemoPost): Promise<void> {
    const now = this.clock.now();
    const { latitude, longitude, neighborhood } = ana;
    const caller: Caller = {
      userId: ana.id,
      clientId: DEMO_PUBLIC_CLIENT_ID,
      test: true,
      grantId: newId('grt', now),
      scopes: SCOPES,
      postLimit: null,
      savedLocation: { latitude, longitude, neighborhood },
      requestId: newId('req', now),
      receivedAt: now,
    };
    const { result: post } = await this.posts.publish(caller, draft);
    if (likedByBen) await this.posts.like(ben.id, post.id);
    if (bensComment === undefined) return;
    const comment = { text: bensComment, parentId: null, authorId: ben.id };
    await this.comments.add(ana.id, post.id, comment);
  }
}
