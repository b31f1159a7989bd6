import { wholeNumber } from './values.js';

/** A month's use can be proven from the call log until the next month is over. */
const CALL_LOG_LEAST_DAYS = 62;

/** How long rows are kept that nobody deletes by hand. */
export const retention = {
  CALL_LOG_DAYS: wholeNumber(CALL_LOG_LEAST_DAYS)
    .default(400)
    .describe(
      'How many days a developer API call stays in the call log; at least 62. Its part in the daily totals stays.',
    ),
  AUDIT_LOG_DAYS: wholeNumber(1)
    .default(730)
    .describe('How many days an event stays in the audit log.'),
  DELETED_POST_DAYS: wholeNumber(1)
    .default(30)
    .describe('How many days a deleted post or comment can be restored; then it is gone for good.'),
};
