import { DEMO_DOCS_CLIENT_ID } from '../../config/app-config.js';
import type { Registration } from '../oauth/apps/apps.service.js';
import type { PostDraft } from '../posts/post-draft.js';
import type { NewUser } from '../users/users.service.js';

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
