import type { IncomingMessage, Server } from 'node:http';

/** Names of the request headers that the service looks for while this goes on, whether they are sent or not, in lower case. */
export async function headersReadDuring(
  server: Server,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const names = new Set<string>();
  const watch = (request: IncomingMessage): void => {
    for (const part of ['headers', 'headersDistinct'] as const)
      Object.defineProperty(request, part, { value: watched(request[part], names) });
  };
  server.prependListener('request', watch);
  try {
    await work();
  } finally {
    server.removeListener('request', watch);
  }
  return [...names].toSorted();
}

function watched<T extends object>(headers: T, names: Set<string>): T {
  return new Proxy(headers, {
    get: (target, name) => {
      if (typeof name === 'string') names.add(name);
      return Reflect.get(target, name) as unknown;
    },
  });
}
