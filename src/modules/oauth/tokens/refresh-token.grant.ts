import { Injectable } from '@nestjs/common';
import type { AuditAction } from '../../../platform/audit/audit-actions.js';
import { AuditLog, type NewAuditEvent } from '../../../platform/audit/audit-log.repository.js';
import { Clock, addMilliseconds, SECOND } from '../../../platform/clock.js';
import {
  canonicalScopes,
  commonScopes,
  formatScope,
  splitScope,
  type Scope,
} from '../../../platform/access/scopes.js';
import { hasSecretFormat, sha256 } from '../../../platform/secrets.js';
import { GroupCommit } from '../../../platform/database/group-commit.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import type { App } from '../clients/client.entities.js';
import { InvalidGrant, InvalidScope } from '../protocol/oauth.errors.js';
import type { Parameters } from '../protocol/parameters.js';
import { decryptResponse, encryptResponse } from './encrypted-response.js';
import { GrantUsageRecorder } from './grant-usage-recorder.js';
import { GrantsRepository } from './grants.repository.js';
import { GrantsService } from './grants.service.js';
import { TokenIssuer, type IssuedTokens } from './token-issuer.js';
import { TokensRepository, type StoredRefreshToken } from './tokens.repository.js';

/** The retry window: for this time after its use, a reused refresh token gets the same response. */
const REPLAY_MS = 30 * SECOND;

interface RefreshRequest {
  value: string;
  receivedAt: Date;
  stored: StoredRefreshToken;
  /** The `scope` parameter of the request. */
  scope: string | undefined;
  /** The audit event of a successful refresh. */
  event: NewAuditEvent;
}

/**
 * The refresh grant (RFC 6749 §6) with rotation: each refresh token is used once and replaced by a successor. The reuse of a token
 * indicates theft and revokes its grant (RFC 9700 §4.14.2).
 *
 * Clients reuse a token legitimately when a response was lost, or when two workers refresh at once. Therefore the server repeats
 * the response for 30 seconds, but no longer once the successor is used.
 */
@Injectable()
export class RefreshTokenGrant {
  private readonly commits: GroupCommit<RefreshRequest, IssuedTokens | undefined>;

  constructor(
    private readonly tokens: TokensRepository,
    private readonly grantsRepository: GrantsRepository,
    private readonly issuer: TokenIssuer,
    private readonly grants: GrantsService,
    private readonly grantUsage: GrantUsageRecorder,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {
    this.commits = new GroupCommit(transactions, {
      batch: (tx, requests) => this.refreshAll(tx, requests),
      single: (tx, request) => this.refreshOne(tx, request),
      groupOf: (request) => (this.isExpectedToSucceed(request) ? 'all' : undefined),
      keyOf: ({ stored }) => stored.grantId,
    });
  }

  /**
   * Revokes the grant if the token is reused after its retry window.
   * @throws InvalidRequest; InvalidGrant; InvalidScope, without a revocation: a second worker with another scope must not end the
   * user's grant
   */
  async refresh(app: App, parameters: Parameters): Promise<IssuedTokens> {
    const receivedAt = this.clock.now();
    const value = parameters.require('refresh_token');
    const stored = await this.find(app, value);
    const event = this.eventOf('token.refreshed', stored);
    const scope = parameters.get('scope');
    const tokens = await this.commits.run({ value, receivedAt, stored, scope, event });
    if (!tokens) throw invalidToken({ countsAsFailedAttempt: false });
    this.grantUsage.record(stored.grantId, this.clock.now());
    return tokens;
  }

  /** Finds a refresh token of this app. Records an attempt to use another app's token. @throws InvalidGrant */
  private async find(app: App, value: string): Promise<StoredRefreshToken> {
    const stored = hasSecretFormat('svcrt', value)
      ? await this.tokens.findRefreshToken(sha256(value))
      : null;
    if (!stored) throw invalidToken();
    if (stored.clientId === app.clientId) return stored;
    const event = this.eventOf('token.foreign', stored, app.clientId);
    await this.transactions.run((tx) => this.audit.insertAll(tx, [event]));
    throw invalidToken();
  }

  /** Whether a batch may include the request. A failure would roll back the whole batch. */
  private isExpectedToSucceed(request: RefreshRequest): boolean {
    const { stored, scope } = request;
    return (
      this.isUsable(request) && !stored.isRevoked && stored.scopes.length > 0 && scope === undefined
    );
  }

  private isUsable({ stored: { consumedAt, expiresAt, userStatus } }: RefreshRequest): boolean {
    return consumedAt === null && userStatus === 'active' && expiresAt > this.clock.now();
  }

  private async refreshAll(
    tx: Transaction,
    requests: readonly RefreshRequest[],
  ): Promise<IssuedTokens[]> {
    const grantIds = requests.map(({ stored }) => stored.grantId);
    const isLocked = await this.grantsRepository.lock(tx, grantIds, this.clock.now());
    const tokens = isLocked ? await this.rotate(tx, requests) : undefined;
    if (!tokens) throw invalidToken({ countsAsFailedAttempt: false });
    return tokens;
  }

  private async refreshOne(
    tx: Transaction,
    request: RefreshRequest,
  ): Promise<IssuedTokens | undefined> {
    const isLocked = await this.grantsRepository.lock(
      tx,
      [request.stored.grantId],
      this.clock.now(),
    );
    if (!isLocked) return undefined;
    const tokens = this.isUsable(request) ? await this.rotate(tx, [request]) : undefined;
    return tokens?.[0] ?? this.replayOrRevoke(tx, request);
  }

  /** Consumes the tokens and stores their successors. Returns undefined if one of them was used or has expired meanwhile. */
  private async rotate(
    tx: Transaction,
    requests: readonly RefreshRequest[],
  ): Promise<IssuedTokens[] | undefined> {
    const now = this.clock.now();
    const pairs = requests.map(({ stored, scope }) =>
      this.issuer.prepare(stored, narrowedScopes(stored, scope), now, {
        predecessorHash: stored.hash,
      }),
    );
    const tokens = pairs.map((pair) => pair.tokens);
    const responses = new Map(
      requests.map(({ value, stored }, index) => [
        stored.hash,
        encryptResponse(value, tokens[index] as IssuedTokens),
      ]),
    );
    const responsesExpireAt = addMilliseconds(now, REPLAY_MS);
    if (!(await this.tokens.consumeRefreshTokens(tx, responses, responsesExpireAt, now)))
      return undefined;
    await this.tokens.insertPairs(tx, pairs);
    // The consumed tokens are the successors of these tokens, whose retry window therefore ends.
    const predecessorHashes = requests.flatMap(({ stored }) => stored.predecessorHash ?? []);
    await this.tokens.clearResponses(tx, predecessorHashes);
    const events = requests.map(({ event }) => event);
    await this.audit.insertAll(tx, events);
    return tokens;
  }

  /**
   * Handles a token that cannot be rotated. If it was used, returns the stored response within the retry window, and revokes the
   * grant after it. Returns undefined without a revocation if the token is unused or, within the window, if the user is inactive or
   * the access token of the stored response was revoked.
   * @throws InvalidScope if the first request had another scope
   */
  private async replayOrRevoke(
    tx: Transaction,
    { value, receivedAt, stored, scope }: RefreshRequest,
  ): Promise<IssuedTokens | undefined> {
    const storedResponse = await this.tokens.findStoredResponse(tx, stored.hash);
    if (!storedResponse) return undefined;
    const { encryptedResponse, responseExpiresAt } = storedResponse;
    const isInRetryWindow =
      encryptedResponse !== null && responseExpiresAt !== null && receivedAt <= responseExpiresAt;
    const response = isInRetryWindow ? decryptResponse(value, encryptedResponse) : null;
    if (!response) {
      await this.grants.revokeReused(tx, 'refresh_token.reused', stored);
      return undefined;
    }
    if (stored.userStatus !== 'active') return undefined;
    if (await this.tokens.isAccessTokenRevoked(tx, sha256(response.accessToken))) return undefined;
    // The scopes that count may have changed since the first response.
    const scopes = commonScopes([response.scopes, stored.scopes]);
    if (formatScope(narrowedScopes(stored, scope)) !== formatScope(scopes)) {
      throw new InvalidScope('The refresh token was just used with another scope.');
    }
    await this.audit.insertAll(tx, [this.eventOf('token.replayed', stored)]);
    return { ...response, scopes };
  }

  private eventOf(
    action: AuditAction,
    { grantId, clientId, userId }: StoredRefreshToken,
    actor = clientId,
  ): NewAuditEvent {
    return this.audit.event(action, grantId, { actor }, { clientId, userId });
  }
}

/**
 * The scopes of the new access token: those of the grant that still count, or a requested subset for this token only (RFC 6749 §6). A
 * request may name every scope that the user granted originally, even if it no longer counts: clients repeat the scope of their first
 * request.
 * @throws InvalidScope; InvalidGrant if no scope is left
 */
function narrowedScopes(
  { scope: granted, scopes: remaining }: StoredRefreshToken,
  requested: string | undefined,
): Scope[] {
  const wanted = splitScope(requested ?? granted);
  if (wanted.length === 0) throw new InvalidScope('scope is empty.');
  const names = splitScope(granted);
  if (!wanted.every((name) => names.includes(name)))
    throw new InvalidScope('scope may not exceed what the user granted.');
  const scopes = commonScopes([canonicalScopes(wanted), remaining]);
  if (scopes.length === 0) throw invalidToken({ countsAsFailedAttempt: false });
  return scopes;
}

/** @param options.countsAsFailedAttempt false when the token was issued to this app */
function invalidToken({ countsAsFailedAttempt = true } = {}): InvalidGrant {
  return new InvalidGrant('The refresh token is unknown, expired, revoked or already used.', {
    countsAsFailedAttempt,
  });
}
