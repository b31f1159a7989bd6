import { createHash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import { AuditLog, type NewAuditEvent } from '../../../platform/audit/audit-log.repository.js';
import { Clock, addMilliseconds, SECOND } from '../../../platform/clock.js';
import { commonScopes, type Scope } from '../../../platform/access/scopes.js';
import { hasSecretFormat, sha256 } from '../../../platform/secrets.js';
import { GroupCommit } from '../../../platform/database/group-commit.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import type { App } from '../clients/client.entities.js';
import { InvalidGrant, OAuthInvalidRequest } from '../protocol/oauth.errors.js';
import type { Parameters } from '../protocol/parameters.js';
import { ForeignCredentials } from './foreign-credentials.js';
import { lockGrants } from './grants.repository.js';
import { GrantsService } from './grants.service.js';
import { TokenIssuer, type IssuedTokens, type NewTokens } from './token-issuer.js';
import { TokensRepository, type StoredCode } from './tokens.repository.js';

/** A code that passed the checks of `exchange`, with the tokens to issue for it. */
interface Exchange {
  code: StoredCode;
  issued: NewTokens;
  event: NewAuditEvent;
}

/**
 * A repeated valid exchange of a code counts as a retry for this time after the first if it comes from the same address, and only
 * fails. Otherwise it revokes the grant.
 */
const RETRY_MS = 10 * SECOND;

/** Within this prefix, the address of a machine changes. */
const IPV6_PREFIX_BITS = 64;

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * The authorization code grant (RFC 6749 §4.1.3). A well-formed but wrong verifier consumes the code of an active user, so that a
 * client has only one guess. No other client error consumes the code.
 */
@Injectable()
export class AuthorizationCodeGrant {
  private readonly commits: GroupCommit<Exchange, IssuedTokens>;

  constructor(
    private readonly tokens: TokensRepository,
    private readonly issuer: TokenIssuer,
    private readonly grants: GrantsService,
    private readonly foreign: ForeignCredentials,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {
    this.commits = new GroupCommit(transactions, {
      write: (tx, exchanges) => this.issue(tx, exchanges),
      // A code of a revoked grant is exchanged alone: it would fail and roll back the whole batch.
      groupOf: ({ code }) => (code.isRevoked ? undefined : 'all'),
      keyOf: ({ code }) => code.grantId,
    });
  }

  /** @throws OAuthInvalidRequest; InvalidGrant */
  async exchange(app: App, parameters: Parameters): Promise<IssuedTokens> {
    const receivedAt = this.clock.now();
    const value = parameters.require('code');
    const redirectUri = parameters.require('redirect_uri');
    const verifier = parameters.get('code_verifier');
    const code = hasSecretFormat('svcac', value) ? await this.tokens.findCode(sha256(value)) : null;
    if (!code) throw invalidCode();
    if (code.clientId !== app.clientId) {
      await this.foreign.record(app, { ...code, kind: 'code' });
      throw invalidCode();
    }
    if (!code.consumedAt && code.expiresAt <= receivedAt)
      throw new InvalidGrant('The code has expired.', { countsAsFailedAttempt: false });
    if (code.redirectUri !== redirectUri) {
      throw new InvalidGrant('redirect_uri differs from that of the authorization request.');
    }
    validateVerifier(code.codeChallenge, verifier);
    const isVerified = verifierMatches(code.codeChallenge, verifier);
    if (code.consumedAt) {
      if (isVerified) await this.recordRepeat(code, code.consumedAt, receivedAt);
      throw invalidCode({ countsAsFailedAttempt: !isVerified });
    }
    if (code.userStatus !== 'active') throw invalidCode({ countsAsFailedAttempt: false });
    if (!isVerified) {
      await this.transactions.run((tx) => this.consume(tx, [code]));
      throw invalidCode();
    }
    const { grantId, clientId, userId } = code;
    if (code.scopes.length === 0) throw invalidCode({ countsAsFailedAttempt: false });
    const issued = this.issuer.prepare({ ...code, app }, code.scopes, this.clock.now());
    const change = { actor: clientId };
    const event = this.audit.event('token.issued', grantId, change, { clientId, userId });
    const tokens = await this.commits.run({ code, issued, event }).catch(async (error: unknown) => {
      // Another exchange may have been first since the code was found.
      const used = error instanceof InvalidGrant ? await this.tokens.findCode(code.hash) : null;
      if (used?.consumedAt) await this.recordRepeat(used, used.consumedAt, receivedAt);
      throw error;
    });
    this.issuer.recordIssued('authorization_code', { grantId, clientId });
    return tokens;
  }

  /** Revokes the grant if one of the two clients must have stolen the code, which came twice with the right verifier (RFC 6749 §4.1.2). */
  private async recordRepeat(code: StoredCode, consumedAt: Date, receivedAt: Date): Promise<void> {
    const { grantId, clientId, userId } = code;
    const issued = { action: 'token.issued', userId, subject: grantId } as const;
    const first = await this.transactions.readCommitted(() =>
      this.audit.addressOf(issued, consumedAt),
    );
    const retry = this.audit.event(
      'code.retried',
      grantId,
      { actor: clientId },
      { clientId, userId },
    );
    // Without tokens, the first exchange had a wrong verifier.
    const isSameAddress = first === undefined || networkOf(first) === networkOf(retry.address);
    const isRetry = isSameAddress && receivedAt < addMilliseconds(consumedAt, RETRY_MS);
    await this.transactions.run((tx) =>
      isRetry
        ? this.audit.insertAll(tx, [retry])
        : this.grants.revokeReused(tx, 'code.replayed', code),
    );
    this.issuer.recordCodeRepeat(isRetry ? 'retry' : 'reuse', clientId);
  }

  private async issue(tx: Transaction, exchanges: readonly Exchange[]): Promise<IssuedTokens[]> {
    const codes = exchanges.map(({ code }) => code);
    const locked = await this.consume(tx, codes);
    if (!locked) throw invalidCode({ countsAsFailedAttempt: false });
    const issued = exchanges.map((exchange) => exchange.issued);
    await this.tokens.insertPairs(tx, issued);
    const events = exchanges.map(({ event }) => event);
    await this.audit.insertAll(tx, events);
    // A decision of the user may have withdrawn scopes since the code was found.
    return issued.map(({ tokens, access }) => ({
      ...tokens,
      scopes: commonScopes([tokens.scopes, locked.get(access.grantId) ?? []]),
    }));
  }

  /**
   * Returns the scopes of the grants that count, by the id of the grant; undefined if a code was used or has expired, or its grant has
   * ended. Locks the grants first, as all transactions do, to avoid deadlocks.
   */
  private async consume(
    tx: Transaction,
    codes: readonly StoredCode[],
  ): Promise<Map<string, Scope[]> | undefined> {
    const grantIds = codes.map(({ grantId }) => grantId);
    const locked = await lockGrants(tx, grantIds, this.clock.now());
    if (!locked) return undefined;
    const hashes = codes.map(({ hash }) => hash);
    // The time after the wait for the lock: the code may have expired meanwhile.
    const isConsumed = await this.tokens.consumeCodes(tx, hashes, this.clock.now());
    return isConsumed ? locked : undefined;
  }
}

function networkOf(address: string | null): string | null {
  return address === null ? null : normalizeIp(address, IPV6_PREFIX_BITS);
}

/** @param options.countsAsFailedAttempt false when the app sent its own code and the right verifier, or the user is inactive */
function invalidCode({ countsAsFailedAttempt = true } = {}): InvalidGrant {
  // One description for all causes, so that it does not tell a thief whether a stolen code exists.
  return new InvalidGrant(
    'The code is unknown, was already used, belongs to another client, or does not match code_verifier.',
    { countsAsFailedAttempt },
  );
}

/** @throws OAuthInvalidRequest if the verifier is malformed (RFC 7636 §4.1), missing, or sent although there is no challenge */
export function validateVerifier(challenge: string | null, verifier: string | undefined): void {
  if (challenge === null) {
    if (verifier !== undefined)
      throw new OAuthInvalidRequest(
        'code_verifier was sent, but the authorization request had no code_challenge.',
      );
    return;
  }
  if (verifier === undefined) throw new OAuthInvalidRequest('code_verifier is required.');
  if (!VERIFIER.test(verifier))
    throw new OAuthInvalidRequest('code_verifier must be 43 to 128 unreserved characters.');
}

/** Whether the SHA-256 of the verifier equals the challenge (RFC 7636 §4.6). True if there is no challenge. */
export function verifierMatches(challenge: string | null, verifier: string | undefined): boolean {
  if (challenge === null) return true;
  const computed = createHash('sha256')
    .update(verifier ?? '')
    .digest('base64url');
  return timingSafeEqual(Buffer.from(computed), Buffer.from(challenge));
}
