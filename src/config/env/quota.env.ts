import { z } from 'zod';
import { count, LARGEST } from './values.js';

/** What apps may publish. */
export const quota = {
  QUOTA_DEFAULT_LIMIT: count
    .default(100)
    .describe('Posts per app and calendar month (UTC) for apps without a plan.'),
  QUOTA_PLANS: z
    .string()
    .regex(
      /^([a-z][a-z0-9-]{0,31}=(\d+|unlimited)(,[a-z][a-z0-9-]{0,31}=(\d+|unlimited))*)?$/,
      'must look like partner=1000,first-party=unlimited',
    )
    .refine(
      (plans) => !/(^|,)(default|custom)=/.test(plans),
      'must not give "default" or "custom", which are not plans',
    )
    .refine(
      (plans) => (plans.match(/\d+(?=,|$)/g) ?? []).every((posts) => Number(posts) <= LARGEST),
      `must not give more than ${LARGEST} posts; write unlimited instead`,
    )
    .default('partner=1000,first-party=unlimited')
    .describe(
      'Named plans and their posts per month. An app on a plan follows its number; when the plan is gone, it keeps the last number it was given.',
    ),
};
