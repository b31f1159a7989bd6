import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { Request } from 'express';
import { claimedClientId } from '../apps/presented-credentials.js';
import { Parameters } from '../parameters.js';
import { BrowserCookies } from '../sign-in/browser-cookies.js';
import type { CountedBy } from './oauth-budgets.js';

/** IPv6 addresses count by the network that one subscriber gets. */
const IPV6_PREFIX = 64;

/** What a request is counted under. */
@Injectable()
export class Trackers {
  constructor(private readonly cookies: BrowserCookies) {}

  of(request: Request, by: CountedBy): string {
    const address = addressOf(request);
    switch (by) {
      case 'address':
        return address;
      case 'app-and-address':
        return `${claimedClientId(request, new Parameters(request.body ?? {})) ?? ''}|${address}`;
      case 'browser':
        return this.cookies.browserHash(request) ?? address;
    }
  }
}

/** The caller's address: the socket's, or what trusted proxies tell; never a header that a stranger can set. */
export function addressOf(request: Request): string {
  return normalizeIp(request.ip ?? '', IPV6_PREFIX);
}
