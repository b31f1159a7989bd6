import { CreatePlatform1795219200000 } from './1795219200000-CreatePlatform.js';
import { Operate1795298400000 } from './1795298400000-Operate.js';

/** Every migration, oldest first. A release never changes one that stands here; it adds another. */
export const migrations = [CreatePlatform1795219200000, Operate1795298400000];

/** Of each release the newest migration that it knows: its schema is what the migrations up to this one make. */
export const RELEASES = {
  '1.0.0': 'CreatePlatform1795219200000',
} as const;

export type Release = keyof typeof RELEASES;
