/** The jobs of the service, as the table of their runs and the metrics name them. */
export const PRUNE = 'prune';
export const QUOTA_RESET = 'quota-reset';
export const USAGE_ROLLUP = 'usage-rollup';

export const JOBS = [PRUNE, QUOTA_RESET, USAGE_ROLLUP] as const;

export type JobName = (typeof JOBS)[number];
