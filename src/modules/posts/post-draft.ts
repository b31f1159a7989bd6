/** Who may see a post; `public` when not supplied. */
export const VISIBILITIES = ['public', 'neighborhood', 'private'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** What an app supplies to publish: only the members that were sent, none of them null (source document, section 2). */
export interface PostDraft {
  title?: string;
  content?: string;
  type?: string;
  images?: string[];
  tags?: string[];
  latitude?: number;
  longitude?: number;
  reachKm?: number;
  visibility?: Visibility;
}
