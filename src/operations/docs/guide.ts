import { readFileSync } from 'node:fs';
import { programFile } from '../../common/program-file.js';

/** Where the guide for apps that integrate is served. */
export const GUIDE_PATH = '/docs/integrate.md';

/** The guide itself, in Markdown. */
export const guide = readFileSync(programFile('docs/integrate.md'), 'utf8');
