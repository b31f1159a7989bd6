import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { doubtsAbout } from '../../../src/http/framing.js';
import { AnswerCheck, type Answer } from './answer-check.js';
import { UNDOCUMENTED, type AnswerCounts } from './answer-counts.js';
import { publishedDocument } from './document.js';

/** Holds every answer of this process against the published document, whoever asked for it. */
class Collector {
  private readonly document = new AnswerCheck(publishedDocument());
  private counts: AnswerCounts = {};
  private violations: string[] = [];

  add(answer: Answer): void {
    const { operationId, violations } = this.document.check(answer);
    const key = operationId === null ? UNDOCUMENTED : `${operationId} ${answer.status}`;
    this.counts[key] = (this.counts[key] ?? 0) + 1;
    this.violations.push(
      ...violations.map((violation) => `${violation} (${answer.method} ${answer.path})`),
    );
  }

  takeCounts(): AnswerCounts {
    const taken = this.counts;
    this.counts = {};
    return taken;
  }

  takeViolations(): string[] {
    return this.violations.splice(0);
  }
}

export const collector = new Collector();

/** Collects every answer of a server: before it leaves, so that a client cannot be done with it earlier. */
export function collectFrom(server: Server): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    // Refused as HTTP, in a line without a body, as Node refuses what it cannot read: the API never hears of it.
    if (doubtsAbout(request)) return;
    const chunks: Buffer[] = [];
    const keep = (chunk: unknown, encoding: unknown): void => {
      if (typeof chunk === 'string')
        chunks.push(
          Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8'),
        );
      else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
    };
    const write = response.write.bind(response);
    const end = response.end.bind(response);
    response.write = ((...parameters: Parameters<typeof write>) => {
      keep(parameters[0], parameters[1]);
      return write(...parameters);
    }) as typeof write;
    response.end = ((...parameters: Parameters<typeof end>) => {
      keep(parameters[0], parameters[1]);
      const ended = end(...parameters);
      collector.add({
        method: request.method ?? '',
        path: (request.url ?? '').split('?')[0] ?? '',
        status: response.statusCode,
        headers: headersOf(response),
        // Node itself sends no body with an answer to HEAD and with these.
        body: bodiless(request, response) ? '' : Buffer.concat(chunks).toString(),
      });
      return ended;
    }) as typeof end;
  });
}

/** Services that are processes of their own, by origin: their answers are seen on the client's side. */
const processes = new Set<string>();
let isWatching = false;

/** Collects what `fetch` is answered by a service that is a process of its own, and listens there until `ended`. */
export function collectFromProcess(baseUrl: string, ended: Promise<unknown>): void {
  const { origin: service } = new URL(baseUrl);
  // The next to listen there may be something else.
  void ended.then(() => processes.delete(service));
  if (!isWatching) {
    isWatching = true;
    const { fetch } = globalThis;
    globalThis.fetch = async (input, init) => {
      const answer = await fetch(input, init);
      const { origin, pathname: path } = new URL(answer.url);
      if (!processes.has(origin)) return answer;
      // Who asked may be about to cut the connection: an answer that does not arrive whole is not held against anything.
      const body = await answer
        .clone()
        .text()
        .catch(() => null);
      const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
      const headers = Object.fromEntries(answer.headers);
      if (body !== null) collector.add({ method, path, status: answer.status, headers, body });
      return answer;
    };
  }
  processes.add(service);
}

function bodiless({ method }: IncomingMessage, { statusCode }: ServerResponse): boolean {
  return method === 'HEAD' || statusCode === 204 || statusCode === 304;
}

function headersOf(response: ServerResponse): Record<string, string> {
  return Object.fromEntries(
    Object.entries(response.getHeaders()).map(([name, value]) => [name, [value].flat().join(', ')]),
  );
}
