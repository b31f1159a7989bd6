import { isIP, SocketAddress } from 'node:net';

const BRACKETED = /^\[([^\]]*)\](?::\d+)?$/;
const IPV4_WITH_PORT = /^([\d.]+):\d+$/;
const MAPPED = /^::ffff:([\d.]+)$/;

/**
 * The IP address in what a socket or a proxy calls a node: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711`
 * (RFC 7239 §6) or `fe80::1%eth0` (RFC 4007 §11).
 * @returns without port and zone, in one spelling for each address (RFC 5952 §4), an IPv4-mapped one (RFC 4291 §2.5.5.2) as
 * the IPv4 address; null when it is none
 */
export function ipAddressIn(node = ''): string | null {
  const bare = BRACKETED.exec(node)?.[1] ?? IPV4_WITH_PORT.exec(node)?.[1] ?? node;
  const [address = ''] = bare.split('%');
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : null;
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  return MAPPED.exec(canonical)?.[1] ?? canonical;
}
