import type { Provider } from '@nestjs/common';
import { ClockCheck } from './clock.check.js';
import { DatabaseServerCheck } from './database-server.check.js';
import { DatabaseSettingsCheck } from './database-settings.check.js';
import { Doctor } from './doctor.service.js';
import { JobsCheck } from './jobs.check.js';
import { MigrationsCheck } from './migrations.check.js';
import { PermissionsCheck } from './permissions.check.js';
import { QuotaCheck } from './quota.check.js';
import { WriteTrial } from './write-trial.repository.js';

/** The doctor and its checks of what stands on the database. They share what jobs and health already have. */
export const DOCTOR: Provider[] = [
  Doctor,
  DatabaseServerCheck,
  DatabaseSettingsCheck,
  ClockCheck,
  MigrationsCheck,
  WriteTrial,
  PermissionsCheck,
  QuotaCheck,
  JobsCheck,
];
