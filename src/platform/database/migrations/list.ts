import { CreatePlatform1795219200000 } from './1795219200000-CreatePlatform.js';
import { Operate1795298400000 } from './1795298400000-Operate.js';

/** Every migration, oldest first. A release never changes one that stands here; it adds another. */
export const migrations = [CreatePlatform1795219200000, Operate1795298400000];
