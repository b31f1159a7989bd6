import type { Scope } from '../../platform/access/scopes.js';

/** The events that apps can receive, and the scope that their grant needs: none if any grant, or no grant, is enough. */
export const EVENT_TYPES = {
  'comment.created': { scope: 'posts.read' },
  'comment.deleted': { scope: 'posts.read' },
  'post.deleted': { scope: 'any' },
  'grant.narrowed': { scope: 'any' },
  'grant.revoked': { scope: null },
  'quota.threshold': { scope: null },
  'webhook.test': { scope: null },
} as const satisfies Record<string, { scope: Scope | 'any' | null }>;

export type EventType = keyof typeof EVENT_TYPES;

/** The percentages of the monthly quota of which an app is told. */
export const QUOTA_THRESHOLDS: readonly number[] = [75, 90, 100];

/** The posts at which a percentage of the quota is reached. */
export const postsAt = (limit: number, percent: number): number =>
  Math.ceil((limit * percent) / 100);
