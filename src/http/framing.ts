import type { IncomingMessage } from 'node:http';

/**
 * The status that refuses a request of which two readers may believe two things: whom it is for (RFC 9112 §3.2), or where it ends
 * (§6.1). Undefined for all others. Its connection is to be closed: nothing that follows can be believed.
 */
export function doubtsAbout(request: IncomingMessage): 400 | 501 | undefined {
  if (hostsOf(request) > 1) return 400;
  const coding = request.headers['transfer-encoding']?.toLowerCase();
  if (coding === undefined) return undefined;
  if (request.httpVersion === '1.0') return 400;
  return coding === 'chunked' ? undefined : 501;
}

function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0;
  for (let place = 0; place < rawHeaders.length; place += 2)
    if (rawHeaders[place]?.length === 4 && rawHeaders[place]?.toLowerCase() === 'host') hosts += 1;
  return hosts;
}
