/** Of each release the newest migration that it knows: its schema is what the migrations up to this one make. */
export const RELEASES = {
  '1.0.0': 'CreatePlatform1795219200000',
} as const;

export type Release = keyof typeof RELEASES;
