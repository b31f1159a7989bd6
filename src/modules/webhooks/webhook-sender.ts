import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Webhook } from 'standardwebhooks';
import { Clock, SECOND } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { hmacSha256 } from '../../platform/secrets.js';
import { VERSION } from '../../platform/version.js';
import type { WebhookEndpoint } from '../events/event.entities.js';
import { checkAddress, publicLookup } from './webhook-address.js';

const TIMEOUT_MS = 15 * SECOND;
/** More of a response is not read, and its connection is closed. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const SECRET_PREFIX = 'whsec_';

/** The result of one attempt: the status of the response, or why there is none. */
export type Attempt = { status: number; retryAfter: string | null } | { error: string };

/**
 * Sends events as Standard Webhooks specifies: signed, without redirects, to public addresses only.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
@Injectable()
export class WebhookSender {
  private readonly agents: { http: HttpAgent; https: HttpsAgent };
  private readonly stopped = new AbortController();
  private readonly key: string;
  private readonly allowsLoopback: boolean;

  constructor(
    private readonly clock: Clock,
    config: AppConfig,
  ) {
    this.allowsLoopback = !config.production;
    const options = { keepAlive: true, lookup: publicLookup(this.allowsLoopback) };
    this.agents = { http: new HttpAgent(options), https: new HttpsAgent(options) };
    const key = hkdfSync('sha256', config.otp.pepper, '', 'webhook secrets', 32);
    this.key = Buffer.from(key).toString('hex');
  }

  get isStopped(): boolean {
    return this.stopped.signal.aborted;
  }

  /** Breaks off the attempts that have no response yet. */
  stop(): void {
    this.stopped.abort();
    this.agents.http.destroy();
    this.agents.https.destroy();
  }

  /** The secret with which an endpoint verifies the events: `whsec_` and 32 bytes in base64. It is derived, so the database has none. */
  secretOf(salt: string): string {
    return SECRET_PREFIX + Buffer.from(hmacSha256(this.key, salt), 'hex').toString('base64');
  }

  /** @throws RefusedAddress; the error of the resolver */
  checkAddress(url: URL): Promise<void> {
    return checkAddress(url, this.allowsLoopback);
  }

  /** Makes one attempt. Never rejects. */
  async send(endpoint: WebhookEndpoint, id: string, body: string): Promise<Attempt> {
    const url = new URL(endpoint.url);
    try {
      await this.checkLiteral(url);
      return await this.post(url, body, this.headersFor(endpoint, id, body));
    } catch (error) {
      return { error: nameOf(error) };
    }
  }

  /** The resolver is not asked about an address, so it is checked here. */
  private async checkLiteral(url: URL): Promise<void> {
    if (/^[\d.]+$|^\[/.test(url.hostname)) await this.checkAddress(url);
  }

  private headersFor(
    { secretSalt, formerSalt, formerUntil }: WebhookEndpoint,
    id: string,
    body: string,
  ): Record<string, string> {
    // The receiver compares it with its own clock, not with that of our database.
    const time = new Date(this.clock.machineTime());
    const salts = [secretSalt];
    if (formerSalt !== null && formerUntil !== null && formerUntil > this.clock.now())
      salts.push(formerSalt);
    const signatures = salts.map((salt) => new Webhook(this.secretOf(salt)).sign(id, time, body));
    return {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': `developer-platform/${VERSION}`,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(time.getTime() / SECOND)),
      'webhook-signature': signatures.join(' '),
    };
  }

  private post(url: URL, body: string, headers: Record<string, string>): Promise<Attempt> {
    return new Promise((resolve) => {
      let attempt: Attempt | undefined;
      const signal = AbortSignal.any([this.stopped.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const options = { method: 'POST', headers, signal };
      const request =
        url.protocol === 'https:'
          ? httpsRequest(url, { ...options, agent: this.agents.https })
          : httpRequest(url, { ...options, agent: this.agents.http });
      request.once('close', () => resolve(attempt ?? { error: 'unknown' }));
      // The status decides, also if the body breaks off.
      request.on('error', (error) => {
        attempt ??= { error: nameOf(error) };
      });
      // Without a listener, the request of a status 101 would not end.
      request.once('upgrade', ({ statusCode = 0 }, socket) => {
        attempt = { status: statusCode, retryAfter: null };
        socket.destroy();
      });
      request.once('response', (response) => {
        const { statusCode = 0, headers: received } = response;
        attempt = { status: statusCode, retryAfter: received['retry-after'] ?? null };
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_RESPONSE_BYTES) response.destroy();
        });
        response.on('error', () => undefined);
      });
      request.end(body);
    });
  }
}

/** `timeout`, or a code of the system or of TLS, such as `ECONNREFUSED`. */
function nameOf(error: unknown): string {
  const { name, code } = error as { name?: string; code?: unknown };
  if (name === 'TimeoutError' || name === 'AbortError') return 'timeout';
  return typeof code === 'string' ? code.slice(0, 64) : 'unknown';
}
