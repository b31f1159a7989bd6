import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { Request } from 'express';
import { isId } from '../../../platform/ids.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { Parameters } from '../protocol/parameters.js';
import { claimedClientId } from '../protocol/presented-credentials.js';
import type { LimitedRoutes, RequestKey } from './rate-limits.js';

declare global {
  namespace Express {
    interface Request {
      /** The limits under which this request fails, once it has passed the checks that count nothing. */
      limitedRoutes?: LimitedRoutes;
      /** The app that authenticated; `isProven` if it did so by a secret. */
      limitedClient?: { clientId: string; isProven: boolean };
    }
  }
}

/** IPv6 addresses count by the network that one subscriber gets. */
const IPV6_PREFIX = 64;

/** The sender of a form. */
export interface Visitor {
  address: string;
  /** SHA-256 of the browser's cookie. */
  browserHash: string;
}

/** The app that a limit was exceeded by, as far as it is known. */
export type ExceededBy = { clientId: string } | { claimedClientId?: string };

/** The keys under which a request is counted. */
@Injectable()
export class RequestKeys {
  constructor(private readonly cookies: BrowserCookies) {}

  visitor(request: Request): Visitor {
    return {
      address: addressOf(request),
      browserHash: this.cookies.browserHash(request) ?? '',
    };
  }

  of(request: Request, by: RequestKey): string {
    const address = addressOf(request);
    const { limitedClient } = request;
    switch (by) {
      case 'client':
        if (!limitedClient) throw new Error('Calls are counted after client authentication.');
        // A confidential app calls for all of its users. A public one proves nothing, so anybody could call in its name.
        return limitedClient.isProven
          ? limitedClient.clientId
          : `${limitedClient.clientId}|${address}`;
      case 'app-and-address':
        return `${this.claimedClient(request) ?? ''}|${address}`;
      case 'address':
        return address;
      case 'browser':
        return this.cookies.browserHash(request) ?? address;
    }
  }

  exceededBy(request: Request): ExceededBy {
    const { limitedClient } = request;
    return limitedClient?.isProven
      ? { clientId: limitedClient.clientId }
      : { claimedClientId: this.claimedClient(request) };
  }

  /** The app that the request claims to come from, if it could be one. */
  private claimedClient(request: Request): string | undefined {
    const clientId = claimedClientId(request, new Parameters(request.body ?? {}));
    return isId('svc_app', clientId) ? clientId : undefined;
  }
}

/** All callers whose address is unknown count as one. */
function addressOf(request: Request): string {
  const address = request.context.address;
  return address === null ? 'unknown' : normalizeIp(address, IPV6_PREFIX);
}
