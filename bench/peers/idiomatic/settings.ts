import { peerSettings } from '../settings.js';

export const settings = peerSettings();

/** What the addresses in answers begin with. */
export const siteUrl = `http://localhost:${settings.port}`;

/** The public address of a post. */
export const permalinkOf = (postId: string): string => `${siteUrl}/post/${postId}`;
