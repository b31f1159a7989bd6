import autocannon from 'autocannon';
import { CONNECTIONS, shuffled, type Measurement, type Requests } from './requests.js';

/** Maximum number of different requests per connection. With all requests, autocannon would start with a delay. */
const REQUESTS_PER_CONNECTION = 250;

/**
 * Sends load for `seconds`.
 * @param expectedStatus of each response; any 2xx if it is absent
 * @throws if a response is missing or has another status
 */
export async function autocannonLoad(
  baseUrl: string,
  requests: Requests,
  seconds: number,
  expectedStatus?: number,
): Promise<Measurement> {
  let failure: string | undefined;
  const result = await autocannon({
    url: baseUrl,
    connections: requests.kind === 'chain' ? requests.connections : CONNECTIONS,
    duration: seconds,
    setupClient: (client) => {
      client.setRequests(requestsOf(requests));
      client.on('response', (status: number) => {
        if (expectedStatus === undefined ? status >= 300 : status !== expectedStatus)
          failure ??= `A response had status ${status}.`;
      });
    },
  });
  if (result.errors > 0) failure ??= `${result.errors} requests got no response.`;
  if (result.requests.total === 0) failure ??= 'No request got a response.';
  if (failure !== undefined) throw new Error(failure);
  const { requests: completed, latency, duration } = result;
  const { total: responses } = completed;
  return { responses, rate: responses / duration, p50: latency.p50, p99: latency.p99 };
}

function requestsOf(requests: Requests): autocannon.Request[] {
  if (requests.kind === 'repeated')
    return shuffled(requests.requests).slice(0, REQUESTS_PER_CONNECTION);
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
