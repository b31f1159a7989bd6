import { CreatePlatform1795219200000 } from './1795219200000-CreatePlatform.js';
import { Operate1795298400000 } from './1795298400000-Operate.js';
import { RetireUnused1795827891000 } from './1795827891000-RetireUnused.js';
import { WatchSignIns1795896600000 } from './1795896600000-WatchSignIns.js';
import { AddOrigins1795910048512 } from './1795910048512-AddOrigins.js';
import { AnswerOperators1795910400000 } from './1795910400000-AnswerOperators.js';
import { AddTestMode1795938000000 } from './1795938000000-AddTestMode.js';
import { AddWebhooks1795966800000 } from './1795966800000-AddWebhooks.js';

/** All migrations, oldest first. Never change or rename a released migration, whose name databases have recorded; add one. */
export const migrations = [
  CreatePlatform1795219200000,
  Operate1795298400000,
  RetireUnused1795827891000,
  WatchSignIns1795896600000,
  AddOrigins1795910048512,
  AnswerOperators1795910400000,
  AddTestMode1795938000000,
  AddWebhooks1795966800000,
];
