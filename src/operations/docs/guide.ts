import { readFileSync } from 'node:fs';

/** Where the guide for apps that integrate is served. */
export const GUIDE_PATH = '/docs/integrate.md';

/** The guide itself, in Markdown. The build puts the file at the same place beside the code. */
export const guide = readFileSync(new URL('../../../docs/integrate.md', import.meta.url), 'utf8');
