import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { Request } from 'express';
import { callerAddress } from '../../../platform/http/request-context.js';
import { isId } from '../../../platform/ids.js';
import { claimedClientId } from '../protocol/presented-credentials.js';
import { Parameters } from '../protocol/parameters.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import type { RequestKey } from './rate-limits.js';

/** IPv6 addresses count by the network that one subscriber gets. */
const IPV6_PREFIX = 64;

/** Who is at the other end of a form, as far as it can be told. */
export interface Visitor {
  address: string;
  /** SHA-256 of the browser's cookie. */
  browserHash: string;
}

/** What a request is counted under. */
@Injectable()
export class Trackers {
  constructor(private readonly cookies: BrowserCookies) {}

  visitor(request: Request): Visitor {
    return {
      address: addressOf(request),
      browserHash: this.cookies.browserHash(request) ?? '',
    };
  }

  /** The app that the request claims to come from, if it could be one. */
  clientId(request: Request): string | undefined {
    const clientId = claimedClientId(request, new Parameters(request.body ?? {}));
    return isId('svc_app', clientId) ? clientId : undefined;
  }

  of(request: Request, by: RequestKey): string {
    const address = addressOf(request);
    switch (by) {
      case 'address':
        return address;
      case 'app-and-address':
        return `${this.clientId(request) ?? ''}|${address}`;
      case 'browser':
        return this.cookies.browserHash(request) ?? address;
    }
  }
}

/** What the caller's address counts as; all whose address is unknown count as one. */
function addressOf(request: Request): string {
  const address = callerAddress(request);
  return address === null ? 'unknown' : normalizeIp(address, IPV6_PREFIX);
}
