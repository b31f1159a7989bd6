import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { isLoopback } from '../../platform/config/loopback.js';
import { InvalidRequest } from '../../platform/errors.js';

/** The endpoint is at an address that is not public. */
export class RefusedAddress extends Error {
  readonly code = 'refused_address';

  constructor(host: string, address: string) {
    super(`${host} has the address ${address}, which is not public.`);
  }
}

/**
 * What an operator may set: https, without credentials and fragment; outside of production also http on loopback, for development.
 * @throws InvalidRequest
 */
export function parseEndpointUrl(value: string, isProduction: boolean): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isLocal = !isProduction && url?.protocol === 'http:' && isLoopback(url.hostname);
  if (!url || (url.protocol !== 'https:' && !isLocal))
    throw new InvalidRequest(
      `The URL of the endpoint must begin with https://${isProduction ? '' : ', or with http:// on loopback'}.`,
    );
  if (url.username !== '' || url.password !== '' || value.includes('#'))
    throw new InvalidRequest('The URL of the endpoint must have no credentials and no fragment.');
  if (url.href.length > 2048)
    throw new InvalidRequest('The URL of the endpoint must have at most 2,048 characters.');
  return url;
}

/**
 * Resolves a name for one connection. Fails if any of its addresses is private, reserved, or an address of this machine: an app must not
 * make the service send requests into the operator's network. The connection goes to the addresses that were checked, so a name that
 * changes in between has no effect.
 * @param allowsLoopback for development
 */
export function publicLookup(allowsLoopback: boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const refused = addresses?.find(({ address }) => !isAllowed(address, allowsLoopback));
      const failure = error ?? (refused && new RefusedAddress(hostname, refused.address));
      const [first] = addresses ?? [];
      if (failure || !first) callback(failure ?? new Error(`${hostname} has no address.`), '', 0);
      else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** Resolves the host of a URL and checks its addresses. An address instead of a name is not resolved. @throws RefusedAddress; the error of the resolver */
export async function checkAddress({ hostname }: URL, allowsLoopback: boolean): Promise<void> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0) {
    if (!isAllowed(host, allowsLoopback)) throw new RefusedAddress(hostname, host);
    return;
  }
  await new Promise<void>((resolve, reject) => {
    publicLookup(allowsLoopback)(host, { all: true }, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

function isAllowed(address: string, allowsLoopback: boolean): boolean {
  // An IPv4 address in an IPv6 one counts as the former.
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range === 'loopback') return allowsLoopback;
  return range === 'unicast' && !ownAddresses().includes(parsed.toString());
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address }) => ipaddr.process(address).toString()),
  );
}
