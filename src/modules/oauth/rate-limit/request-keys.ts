import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { Request } from 'express';
import { isId } from '../../../platform/ids.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { Parameters } from '../protocol/parameters.js';
import { claimedClientId } from '../protocol/presented-credentials.js';
import type { RequestKey } from './rate-limits.js';
import { TrustedDevicesRepository } from './rate-limit.repository.js';

declare module '../../../platform/request-context.js' {
  interface RequestContext {
    /** Whether the authenticated app is confidential, which means that its secret was verified. */
    isConfidential?: boolean;
  }
}

/** Providers assign at least a /64 to each subscriber, and often a /56 or a /48. */
const IPV6_PREFIX_BITS = 64;

/** The user of the pages, as far as known before the sign-in. */
export interface Visitor {
  /** Normalized: the /64 prefix of an IPv6 address. */
  address: string;
  /** The /56 and the /48 prefix of an IPv6 address, or the IPv4 address. */
  network56: string;
  network48: string;
  /** SHA-256 of the browser cookie. Empty without a cookie. */
  browserHash: string;
}

/** What reached a limit, as audit details. `claimedClientId` is not authenticated; undefined if the app is unknown. */
export type AppDetails = { clientId: string; grantId?: string } | { claimedClientId?: string };

/** Derives the rate-limit keys of a request. */
@Injectable()
export class RequestKeys {
  constructor(
    private readonly cookies: BrowserCookies,
    private readonly devices: TrustedDevicesRepository,
  ) {}

  visitor(request: Request): Visitor {
    return {
      address: addressOf(request),
      network56: addressOf(request, 56),
      network48: addressOf(request, 48),
      browserHash: this.cookies.browserHash(request) ?? '',
    };
  }

  of(request: Request, by: RequestKey): string {
    const address = addressOf(request);
    const { clientId, isConfidential } = request.context;
    switch (by) {
      case 'client':
        if (clientId === undefined)
          throw new Error('LimitCalls by client requires client authentication first.');
        // A public app has no secret, so anyone can send requests with its client_id.
        return isConfidential ? clientId : `${clientId}|${address}`;
      case 'app-and-address':
        return `${this.claimedClient(request) ?? ''}|${address}`;
      case 'browser':
        return this.cookies.browserHash(request) ?? address;
      case 'address':
      case 'stranger-address':
        return address;
      case 'stranger-network56':
        return addressOf(request, 56);
      case 'stranger-network48':
        return addressOf(request, 48);
    }
  }

  /** The hash of a browser in which somebody signed in before, if the limit by this key does not apply to it. */
  async trustedDevice(request: Request, by: RequestKey): Promise<string | undefined> {
    if (!by.startsWith('stranger-')) return undefined;
    const browserHash = this.cookies.browserHash(request);
    return browserHash !== undefined && (await this.devices.isTrustedBrowser(browserHash))
      ? browserHash
      : undefined;
  }

  appDetails(request: Request): AppDetails {
    const { clientId, isConfidential } = request.context;
    return isConfidential && clientId !== undefined
      ? { clientId }
      : { claimedClientId: this.claimedClient(request) };
  }

  private claimedClient(request: Request): string | undefined {
    const clientId = claimedClientId(request, new Parameters(request.body ?? {}));
    return isId('svc_app', clientId) ? clientId : undefined;
  }
}

function addressOf(request: Request, prefixBits = IPV6_PREFIX_BITS): string {
  const address = request.context.address;
  return address === null ? 'unknown' : normalizeIp(address, prefixBits);
}
