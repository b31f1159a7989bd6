import { peerSettings } from '../settings.js';

export const settings = peerSettings();

/** Base of the URLs in responses. */
export const siteUrl = `http://localhost:${settings.port}`;

/** The public URL of a post. */
export const permalinkOf = (postId: string): string => `${siteUrl}/post/${postId}`;
