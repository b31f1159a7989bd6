import autocannon from 'autocannon';
import type { LoadRequest, Measurement, Requests } from './requests.js';

const CONNECTIONS = 32;
/** What one connection repeats: fewer than there are, so that it begins at once. */
const REPEATED = 250;

/** @throws when an answer was no 2xx, or did not come */
export async function autocannonLoad(
  baseUrl: string,
  requests: Requests,
  seconds: number,
): Promise<Measurement> {
  let failure: string | undefined;
  const result = await autocannon({
    url: baseUrl,
    connections: requests.kind === 'chain' ? requests.connections : CONNECTIONS,
    duration: seconds,
    setupClient: (client) => {
      client.setRequests(requestsOf(requests));
      client.on('response', (status: number) => {
        if (status >= 300) failure ??= `An answer had status ${status}.`;
      });
    },
  });
  if (result.errors > 0) failure ??= `${result.errors} requests got no answer.`;
  if (result.requests.total === 0) failure ??= 'No request was answered.';
  if (failure !== undefined) throw new Error(failure);
  const { requests: sent, latency, duration } = result;
  return { rate: sent.total / duration, p50: latency.p50, p99: latency.p99 };
}

function requestsOf(requests: Requests): autocannon.Request[] {
  if (requests.kind === 'repeated') return shuffled(requests.requests).slice(0, REPEATED);
  if (requests.kind === 'once')
    return [{ setupRequest: (request) => ({ ...request, ...requests.next() }) }];
  let request = requests.first();
  return [
    {
      setupRequest: (base) => ({ ...base, ...request }),
      onResponse: (_status, body, _context, headers) => {
        const { link } = headers as { link?: string };
        request = requests.following({ body, link }, request);
      },
    },
  ];
}

function shuffled(requests: readonly LoadRequest[]): LoadRequest[] {
  return requests
    .map((request) => ({ request, place: Math.random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ request }) => request);
}
