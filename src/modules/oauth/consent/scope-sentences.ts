import type { Scope } from '../../../common/scopes.js';

/** What a scope allows, as the user reads it on the consent page (source document, section 5). */
export const SCOPE_SENTENCES: Readonly<Record<Scope, string>> = {
  'profile.read': 'See your name, photo, karma and neighbourhood',
  'posts.read': 'Read your own posts and the comments on them',
  'posts.write': 'Publish and delete posts and comments in your name',
  'analytics.read': 'See how many likes and comments your posts have',
};
