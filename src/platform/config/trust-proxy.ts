import { isIP, SocketAddress } from 'node:net';

/** The proxies of a network, in CIDR notation. */
export interface ProxyRange {
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

/** The proxies by address, or their number. */
export type TrustedProxies = number | readonly ProxyRange[];

/** Names that Express has for these ranges, too. */
const NAMED_RANGES: Readonly<Record<string, string>> = {
  loopback: '127.0.0.0/8,::1',
  linklocal: '169.254.0.0/16,fe80::/10',
  uniquelocal: '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7',
};

/** More proxies than any request passes. */
const MAX_COUNT = 100;

/**
 * Reads the addresses of the trusted proxies, such as `10.0.0.5,2001:db8::/64,loopback`, or their number.
 * @throws Error with a message that follows the name of the variable
 */
export function parseTrustProxy(text: string): TrustedProxies {
  if (/^\d+$/.test(text)) {
    if (Number(text) > MAX_COUNT) throw new Error(`must be at most ${MAX_COUNT} proxies`);
    return Number(text);
  }
  return text.split(',').flatMap((entry) => {
    const addresses = Object.hasOwn(NAMED_RANGES, entry) ? NAMED_RANGES[entry] : entry;
    return (addresses ?? '').split(',').map(parseRange);
  });
}

function parseRange(text: string): ProxyRange {
  const [address = '', digits, ...rest] = text.split('/');
  const version = isIP(address);
  const bits = version === 4 ? 32 : 128;
  const prefix = digits === undefined ? bits : Number(digits);
  const isRange = digits === undefined || (/^[1-9]\d*$/.test(digits) && prefix <= bits);
  if (version === 0 || address.includes('%') || !isRange || rest.length > 0)
    throw new Error(
      `has "${text}", which is neither an IP address nor a range such as 10.0.0.0/24; list the addresses of the proxies, separated by commas without spaces, or write the number of proxies`,
    );
  if (version === 6 && isIpv4Mapped(address))
    throw new Error(`has "${text}"; write the IPv4 address without ::ffff:`);
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** RFC 4291 §2.5.5.2. Connections and headers with such an address are compared as IPv4. */
function isIpv4Mapped(address: string): boolean {
  return new SocketAddress({ address, family: 'ipv6' }).address.startsWith('::ffff:');
}
