import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { SECOND } from '../../platform/clock.js';
import { isLoopback } from '../../platform/config/loopback.js';
import { InvalidRequest } from '../../platform/errors.js';

/** The addresses that are assigned to networks (RFC 4291 §2.4). `ipaddr.js` calls the rest `unicast`, too. */
const ASSIGNED_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Asks name servers itself. The resolver of the system has two threads for all names of the process: an app with a name server that does
 * not respond would delay those of the SMS gateway, too.
 */
export const resolver = new Resolver({ timeout: 2 * SECOND, tries: 2 });

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
  return (hostname, { all }, callback) => {
    publicAddresses(hostname, allowsLoopback).then(
      (addresses) => {
        const [{ address, family }] = addresses;
        if (all) callback(null, addresses);
        else callback(null, address, family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}

/** Resolves the host of a URL and checks its addresses. @throws RefusedAddress; the error of the resolver */
export async function checkAddress({ hostname }: URL, allowsLoopback: boolean): Promise<void> {
  await publicAddresses(hostname.replace(/^\[(.*)\]$/, '$1'), allowsLoopback);
}

async function publicAddresses(
  host: string,
  allowsLoopback: boolean,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const addresses = await addressesOf(host);
  const refused = addresses.find(({ address }) => !isAllowed(address, allowsLoopback));
  if (refused) throw new RefusedAddress(host, refused.address);
  return addresses;
}

async function addressesOf(host: string): Promise<[LookupAddress, ...LookupAddress[]]> {
  if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
  if (isLoopback(host)) return [await lookup(host)];
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const [first, ...others] = found.map((address) => ({ address, family: isIP(address) }));
  if (first) return [first, ...others];
  throw (answers[0] as PromiseRejectedResult).reason;
}

function isAllowed(address: string, allowsLoopback: boolean): boolean {
  // An IPv4 address in an IPv6 one counts as the former.
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range === 'loopback') return allowsLoopback;
  const isAssigned = parsed instanceof ipaddr.IPv4 || parsed.match(ASSIGNED_IPV6);
  return range === 'unicast' && isAssigned && !ownAddresses().includes(parsed.toString());
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address }) => ipaddr.process(address).toString()),
  );
}
