import { CreatePlatform1795219200000 } from './migrations/1795219200000-CreatePlatform.js';

/** Every migration, oldest first. A release never changes one that stands here; it adds another. */
export const migrations = [CreatePlatform1795219200000];
