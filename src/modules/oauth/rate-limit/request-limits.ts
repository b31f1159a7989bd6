import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { Request } from 'express';
import { AuditLog } from '../../../platform/audit/audit-log.repository.js';
import { TransactionRunner } from '../../../platform/database/transaction.js';
import { isId } from '../../../platform/ids.js';
import { withDeadline } from '../../../platform/request-context.js';
import { BrowserBinding } from '../protocol/browser-binding.js';
import { type InvalidClient, TooManyAttempts } from '../protocol/oauth.errors.js';
import { Parameters } from '../protocol/parameters.js';
import { claimedClientId } from '../protocol/presented-credentials.js';
import { TrustedDevicesRepository } from './rate-limit.repository.js';
import { RateLimiter, type AppDetails, type Attempt } from './rate-limiter.js';
import { LIMITS, type RequestKey, type RequestLimitName } from './rate-limits.js';

declare module '../../../platform/request-context.js' {
  interface RequestContext {
    /** Whether the authenticated app is confidential, which means that its secret was verified. */
    isConfidential?: boolean;
  }
}

/** The limits of the failures of all forms. */
export const FORM_FAILURES: readonly RequestLimitName[] = [
  'decision-failures-by-browser',
  'decision-failures-by-address',
];

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

interface RequestAttempt extends Attempt {
  by: RequestKey;
}

/**
 * Limits of failed attempts, which slow down guessing, and the keys by which limits count requests. All processes share the counts in
 * the database. A form of the pages reads them first; a request of an app reads them only if it fails, because it may prove itself.
 * Both write them only if they fail. Both use a new deadline, because that of the request may have passed.
 */
@Injectable()
export class RequestLimits {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly browsers: BrowserBinding,
    private readonly devices: TrustedDevicesRepository,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
  ) {}

  /**
   * Rejects a request that exceeds a limit. Uses one SELECT for all keys.
   * @throws TooManyAttempts
   */
  check(request: Request, limits: readonly RequestLimitName[]): Promise<void> {
    return withDeadline(async () => {
      for (const attempt of await this.limiter.peekAll(this.attempts(request, limits))) {
        if (!attempt.exceeded || (await this.trustedDevice(request, attempt.by))) continue;
        this.limiter.countRejected(attempt.limit.name);
        throw new TooManyAttempts(attempt.retryAfterSeconds);
      }
    });
  }

  /** Records a failed attempt. */
  record(request: Request, limits: readonly RequestLimitName[]): Promise<void> {
    return withDeadline(async () => {
      const counted: Attempt[] = [];
      for (const attempt of this.attempts(request, limits))
        if (!(await this.trustedDevice(request, attempt.by))) counted.push(attempt);
      if (counted.length === 0) return;
      const app = this.appDetails(request);
      await this.transactions.run((tx) => this.limiter.add(tx, counted, app));
    });
  }

  /**
   * Records a failed client authentication in the audit log: of an app and a network, one an hour. All apps that do not exist count as
   * one, because a stranger can make up any number of ids.
   */
  async recordRefusedClient(request: Request, { clientId }: InvalidClient): Promise<void> {
    const subject = clientId ?? 'unknown app';
    if (!(await this.limiter.isFirstFailure(`client ${subject} ${addressOf(request, 48)}`))) return;
    const details = { endpoint: request.context.clientEndpoint, ...this.appDetails(request) };
    const change = { actor: 'service' };
    await withDeadline(() =>
      this.transactions.run((tx) =>
        this.audit.record(tx, 'client.authentication_failed', subject, change, details),
      ),
    );
  }

  private attempts(request: Request, names: readonly RequestLimitName[]): RequestAttempt[] {
    return names
      .map((name) => {
        const [, by] = LIMITS[name];
        return { limit: this.limiter.limits[name], by, key: this.keyOf(request, by) };
      })
      .filter(({ limit }) => limit.max > 0);
  }

  visitor(request: Request): Visitor {
    return {
      address: addressOf(request),
      network56: addressOf(request, 56),
      network48: addressOf(request, 48),
      browserHash: this.browsers.browserHash(request) ?? '',
    };
  }

  keyOf(request: Request, by: RequestKey): string {
    const address = addressOf(request);
    const { clientId, isConfidential } = request.context;
    switch (by) {
      case 'client':
        if (clientId === undefined)
          throw new Error('LimitCalls by client requires client authentication first.');
        // A public app has no secret, so anyone can send requests with its client_id.
        return isConfidential ? clientId : `${clientId}|${address}`;
      case 'app-and-address':
        return `${claimedApp(request) ?? ''}|${address}`;
      case 'browser':
        return this.browsers.browserHash(request) ?? address;
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
    const browserHash = this.browsers.browserHash(request);
    return browserHash !== undefined && (await this.devices.isTrustedBrowser(browserHash))
      ? browserHash
      : undefined;
  }

  appDetails(request: Request): AppDetails {
    const { clientId, isConfidential } = request.context;
    return isConfidential && clientId !== undefined
      ? { clientId }
      : { claimedClientId: claimedApp(request) };
  }
}

function claimedApp(request: Request): string | undefined {
  const clientId = claimedClientId(request, new Parameters(request.body ?? {}));
  return isId('svc_app', clientId) ? clientId : undefined;
}

function addressOf(request: Request, prefixBits = IPV6_PREFIX_BITS): string {
  const address = request.context.address;
  return address === null ? 'unknown' : normalizeIp(address, prefixBits);
}
