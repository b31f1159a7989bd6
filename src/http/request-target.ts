import type { Server } from 'node:http';

/** Where nothing is. */
const NOWHERE = '/unreadable';

/**
 * A target in absolute form (RFC 9112 §3.2.2) that is no URL becomes one that leads nowhere: Express would answer it in its own
 * words, before anything of ours has seen the request.
 */
export function readTargets(server: Server): void {
  server.prependListener('request', (request: { url?: string }) => {
    const { url = '' } = request;
    if (!url.startsWith('/') && !isReadable(url)) request.url = NOWHERE;
  });
}

function isReadable(target: string): boolean {
  try {
    return new URL(target).pathname !== '';
  } catch {
    return target === '*';
  }
}
