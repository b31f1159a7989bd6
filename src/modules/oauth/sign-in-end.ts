import { later, SECOND } from '../../common/clock.js';
import { timeOf } from '../../common/ids.js';
import type { AppConfig } from '../../config/app-config.js';

/** When a sign-in ends: its id holds when it began, so that one that is gone and one that never was are told alike. */
export function endOfSignIn(transactionId: string, { lifetimes }: AppConfig): Date {
  return later(timeOf(transactionId), lifetimes.transaction * SECOND);
}
