import { CreatePlatform1795219200000 } from './1795219200000-CreatePlatform.js';
import { Operate1795298400000 } from './1795298400000-Operate.js';

/** All migrations, oldest first. Never change or rename a released migration, whose name databases have recorded; add one. */
export const migrations = [
  // Creates every table of release 1.0.0.
  CreatePlatform1795219200000,
  // Adds the app and user of an audit event, the plan and limit of a closed month, and indices for erasure, pruning and reports.
  Operate1795298400000,
];
