import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { Request } from 'express';
import { isId } from '../../../platform/ids.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { Parameters } from '../protocol/parameters.js';
import { claimedClientId } from '../protocol/presented-credentials.js';
import type { RateLimitGroup, RequestKey } from './rate-limits.js';

declare module '../../../platform/request-context.js' {
  interface RequestContext {
    /** The group whose failure limits count this request if it fails. */
    rateLimitGroup?: RateLimitGroup;
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
  constructor(private readonly cookies: BrowserCookies) {}

  visitor(request: Request): Visitor {
    return {
      address: addressOf(request),
      network56: addressOf(request, 56),
      network48: addressOf(request, 48),
      browserHash: this.cookies.browserHash(request) ?? '',
    };
  }

  of(request: Request, countedBy: RequestKey): string {
    const address = addressOf(request);
    const { clientId, isConfidential } = request.context;
    switch (countedBy) {
      case 'client':
        if (clientId === undefined)
          throw new Error('LimitCalls by client requires client authentication first.');
        // A public app has no secret, so anyone can send requests with its client_id.
        return isConfidential ? clientId : `${clientId}|${address}`;
      case 'app-and-address':
        return `${this.claimedClient(request) ?? ''}|${address}`;
      case 'address':
        return address;
      case 'network56':
      case 'network48':
        return this.visitor(request)[countedBy];
      case 'browser':
        return this.cookies.browserHash(request) ?? address;
    }
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
