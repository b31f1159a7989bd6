import { Injectable } from '@nestjs/common';
import type { AuditAction } from '../../../platform/audit/audit-actions.js';
import { AuditLog, type NewAuditEvent } from '../../../platform/audit/audit-log.repository.js';
import { Clock, addMilliseconds } from '../../../platform/clock.js';
import {
  canonicalScopes,
  commonScopes,
  formatScope,
  isOnlyOfflineAccess,
  splitScope,
  type Scope,
} from '../../../platform/access/scopes.js';
import { hasSecretFormat, sha256 } from '../../../platform/secrets.js';
import { GroupCommit } from '../../../platform/database/group-commit.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import type { App } from '../clients/client.entities.js';
import { InvalidGrant, InvalidScope, type TooManyAttempts } from '../protocol/oauth.errors.js';
import type { Parameters } from '../protocol/parameters.js';
import { RefreshLimit } from '../rate-limit/call-limits.js';
import { extendedWindow, type RepeatKind, repeatKind, REPLAY_MS } from './rotation.js';
import {
  decryptResponse,
  encryptResponse,
  TokenIssuer,
  type IssuedTokens,
} from './token-issuer.js';
import { ForeignCredentials } from './foreign-credentials.js';
import { lockGrants } from './grants.repository.js';
import { GrantsService } from './grants.service.js';
import { TokensRepository, type StoredRefreshToken } from './tokens.repository.js';

interface RefreshResult {
  /** Undefined if the refresh token is not valid. */
  tokens?: IssuedTokens;
  /** Set if the refresh token was used before. */
  replay?: RepeatKind;
}

interface RefreshRequest {
  app: App;
  value: string;
  receivedAt: Date;
  stored: StoredRefreshToken;
  /** The `scope` parameter of the request. */
  scope: string | undefined;
  /** The audit event of a successful refresh. */
  event: NewAuditEvent;
  /** Set if the app has exceeded its limit for the user. */
  rejection: TooManyAttempts | undefined;
}

/**
 * The refresh grant (RFC 6749 §6) with rotation: each refresh token is used once and replaced by a successor. The reuse of a token
 * indicates theft and revokes its grant (RFC 9700 §4.14.2).
 *
 * Clients reuse a token legitimately when workers refresh at once, or when a response was lost. Therefore, while the successor is
 * unused, the server repeats the response:
 * - within 2 seconds of the first use, to every request: they are one race.
 * - later, up to 30 seconds, once, and to every request within 2 seconds of this late repeat: workers repeat a lost refresh at once, too.
 *   A further late repeat is reuse: a client that loses two responses in a row is rare.
 * A thief who knows when the app refreshes could get the response in every generation of tokens. Therefore late repeats of two
 * generations in a row are reuse, too. So is any repeat after the access token of the response was revoked: otherwise a thief could
 * prevent the detection by revoking it.
 *
 * All times are those of the database server, whatever the clocks of the processes (`Clock`).
 */
@Injectable()
export class RefreshTokenGrant {
  private readonly commits: GroupCommit<RefreshRequest, RefreshResult>;

  constructor(
    private readonly tokens: TokensRepository,
    private readonly issuer: TokenIssuer,
    private readonly grants: GrantsService,
    private readonly foreign: ForeignCredentials,
    private readonly limit: RefreshLimit,
    private readonly audit: AuditLog,
    transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {
    this.commits = new GroupCommit(transactions, {
      write: (tx, requests) => this.write(tx, requests),
      groupOf: (request) => (this.isExpectedToSucceed(request) ? 'all' : undefined),
      keyOf: ({ stored }) => stored.grantId,
    });
  }

  /**
   * Revokes the grant if the token is reused, even beyond the limit of refreshes: a thief must not delay the detection by refreshing.
   * @throws OAuthInvalidRequest; InvalidGrant; TooManyAttempts; InvalidScope, without a revocation: a second worker with another scope must not end the
   * user's grant
   */
  async refresh(app: App, parameters: Parameters): Promise<IssuedTokens> {
    const receivedAt = this.clock.now();
    const value = parameters.require('refresh_token');
    const stored = await this.find(app, value);
    const event = this.eventOf('token.refreshed', stored);
    const scope = requestedScope(parameters);
    const rejection = await this.limit.count(stored);
    if (rejection && stored.consumedAt === null) throw rejection;
    const request = { app, value, receivedAt, stored, scope, event, rejection };
    const { tokens, replay } = await this.commits.run(request);
    if (replay) this.issuer.recordReplay(replay, stored);
    if (!tokens) throw invalidToken({ countsAsFailedAttempt: false });
    if (!replay) this.issuer.recordIssued('refresh_token', stored);
    return tokens;
  }

  /** Finds a refresh token of this app. Records an attempt to use another app's token. @throws InvalidGrant */
  private async find(app: App, value: string): Promise<StoredRefreshToken> {
    const stored = hasSecretFormat('svcrt', value)
      ? await this.tokens.findRefreshToken(sha256(value))
      : null;
    if (!stored) throw invalidToken();
    if (stored.clientId === app.clientId) return stored;
    await this.foreign.record(app, stored);
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

  private async write(
    tx: Transaction,
    requests: readonly [RefreshRequest, ...RefreshRequest[]],
  ): Promise<RefreshResult[]> {
    const grantIds = requests.map(({ stored }) => stored.grantId);
    const locked = await lockGrants(tx, grantIds, this.clock.now());
    // A decision of the user may have withdrawn scopes since the token was found.
    const current = requests.map((request) => {
      const scopes = locked?.get(request.stored.grantId) ?? [];
      return { ...request, stored: { ...request.stored, scopes } };
    });
    const isUsable = current.every((request) => this.isUsable(request));
    const tokens = locked && isUsable ? await this.rotate(tx, current) : undefined;
    if (tokens) return tokens.map((each) => ({ tokens: each }));
    const [request, ...others] = current as [RefreshRequest, ...RefreshRequest[]];
    if (others.length > 0) throw invalidToken({ countsAsFailedAttempt: false });
    return [locked ? await this.replayOrRevoke(tx, request) : {}];
  }

  /** Consumes the tokens and stores their successors. Returns undefined if one of them was used or has expired meanwhile. */
  private async rotate(
    tx: Transaction,
    requests: readonly RefreshRequest[],
  ): Promise<IssuedTokens[] | undefined> {
    const now = this.clock.now();
    const pairs = requests.map(({ app, stored, scope }) =>
      this.issuer.prepare({ ...stored, app }, narrowedScopes(stored, scope), now, {
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
   * Handles a token that cannot be rotated. If it was used, returns the stored response or revokes the grant. Returns no tokens and
   * revokes nothing if the token is unused or, for a race or a late repeat, if the user is inactive. Such a repeat does not count as
   * answered.
   * @throws TooManyAttempts; InvalidScope if the first request had another scope
   */
  private async replayOrRevoke(tx: Transaction, request: RefreshRequest): Promise<RefreshResult> {
    const { value, receivedAt, stored, scope, rejection } = request;
    const used = await this.tokens.findUsedRefreshToken(tx, stored.hash);
    if (!used) return {};
    const { encryptedResponse, consumedAt, replayedAt, responseExpiresAt } = used;
    const response = encryptedResponse === null ? null : decryptResponse(value, encryptedResponse);
    const { predecessorHash } = stored;
    const kind = repeatKind(
      {
        consumedAt,
        replayedAt,
        // The response is deleted when the successor is used.
        responseExpiresAt: response ? responseExpiresAt : null,
        followsLateRepeat:
          predecessorHash !== null && (await this.tokens.hadLateReplay(tx, predecessorHash)),
        isAccessTokenRevoked:
          response !== null &&
          (await this.tokens.isAccessTokenRevoked(tx, sha256(response.accessToken))),
      },
      receivedAt,
    );
    if (kind === 'reuse' || !response || !responseExpiresAt) {
      await this.grants.revokeReused(tx, 'refresh_token.reused', stored);
      return { replay: 'reuse' };
    }
    if (rejection) throw rejection;
    if (stored.userStatus !== 'active') return {};
    // The scopes that count may have changed since the first response.
    const scopes = commonScopes([response.scopes, stored.scopes]);
    if (formatScope(narrowedScopes(stored, scope)) !== formatScope(scopes)) {
      throw new InvalidScope(
        `The refresh token was just used with another scope: ${formatScope(scopes)}. Send that one to get the same response.`,
      );
    }
    const late = kind === 'late';
    if (late) {
      const now = this.clock.now();
      const until = extendedWindow(responseExpiresAt, now);
      await this.tokens.recordLateReplay(tx, stored.hash, now, until);
    }
    await this.audit.insertAll(tx, [this.eventOf('token.replayed', stored, { late })]);
    return { tokens: { ...response, scopes }, replay: kind };
  }

  private eventOf(
    action: AuditAction,
    { grantId, clientId, userId }: StoredRefreshToken,
    more: { late?: boolean } = {},
  ): NewAuditEvent {
    return this.audit.event(action, grantId, { actor: clientId }, { clientId, userId, ...more });
  }
}

/** The `scope` parameter. Clients that repeat their `offline_access` alone want the granted scopes, as without `scope`. */
function requestedScope(parameters: Parameters): string | undefined {
  const scope = parameters.get('scope');
  return scope !== undefined && isOnlyOfflineAccess(scope) ? undefined : scope;
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
    throw new InvalidScope(
      'scope must contain only scopes that the user granted, separated by spaces.',
    );
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
