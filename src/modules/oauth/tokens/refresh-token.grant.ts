import { Injectable } from '@nestjs/common';
import { AuditLog, type NewAuditEvent } from '../../../platform/audit/audit-log.repository.js';
import { Clock, later, SECOND } from '../../../platform/clock.js';
import {
  canonicalScopes,
  formatScope,
  parseScope,
  splitScope,
  type Scope,
} from '../../../platform/access/scopes.js';
import { isSecret, sha256 } from '../../../platform/secrets.js';
import { GroupCommit } from '../../../platform/database/group-commit.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import type { App } from '../clients/client.entities.js';
import { GrantRevocation } from './grants.service.js';
import { GrantUse } from './grant-use.js';
import { GrantsRepository } from './grants.repository.js';
import { InvalidGrant, InvalidScope } from '../protocol/oauth.errors.js';
import type { Parameters } from '../protocol/parameters.js';
import { decryptResponse, encryptResponse } from './encrypted-response.js';
import { TokenIssuer, type IssuedTokens, type NewTokens } from './token-issuer.js';
import { TokensRepository, type RefreshUse, type StoredRefresh } from './tokens.repository.js';

/** So long after its use, a refresh token may come back for the answer that got lost. */
const REPLAY_MS = 30 * SECOND;

/**
 * One request: the token as it came, and when, what is stored about it, the `scope` parameter, and the event that its success is.
 */
interface RefreshRequest {
  value: string;
  at: Date;
  stored: StoredRefresh;
  scope: string | undefined;
  event: NewAuditEvent;
}

/**
 * The refresh grant (RFC 6749 §6). Every refresh token is used once and followed by the next (RFC 9700 §4.14.2).
 *
 * A used token that returns was copied, so its grant ends. There are two honest reasons: the response was lost, or two workers of
 * a client refreshed at once. Within 30 seconds, and until the successor is used, the same response is returned again. All who
 * raced hold one successor, and its first use closes the window.
 */
@Injectable()
export class RefreshTokenGrant {
  private readonly commits: GroupCommit<RefreshRequest, IssuedTokens | undefined>;

  constructor(
    private readonly tokens: TokensRepository,
    private readonly grants: GrantsRepository,
    private readonly issuer: TokenIssuer,
    private readonly revocation: GrantRevocation,
    private readonly use: GrantUse,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {
    this.commits = new GroupCommit(transactions, {
      batch: (tx, all) => this.answerAll(tx, all),
      single: (tx, presented) => this.answer(tx, presented),
      groupOf: (presented) => (this.isOrdinary(presented) ? 'all' : undefined),
      keyOf: ({ stored }) => stored.grantId,
    });
  }

  /**
   * @throws InvalidRequest; InvalidScope, which spends and ends nothing, also when an answer is asked for again with another
   * scope than the first time: an honest second worker must not end its user's grant, and a thief gains nothing by it;
   * InvalidGrant, which for a used token ends its grant
   */
  async refresh(app: App, parameters: Parameters): Promise<IssuedTokens> {
    const at = this.clock.now();
    const value = parameters.require('refresh_token');
    const stored = await this.find(app, value);
    const event = this.eventOf('token.refreshed', stored);
    const request = { value, at, stored, scope: parameters.get('scope'), event };
    const tokens = await this.commits.run(request);
    if (!tokens) throw unusable(false);
    this.use.note(stored.grantId, this.clock.now());
    return tokens;
  }

  private async find(app: App, value: string): Promise<StoredRefresh> {
    const stored = isSecret('svcrt', value) ? await this.tokens.findRefresh(sha256(value)) : null;
    if (!stored) throw unusable();
    if (stored.clientId === app.clientId) return stored;
    const event = this.eventOf('token.foreign', stored, app.clientId);
    await this.transactions.run((tx) => this.audit.insertAll(tx, [event]));
    throw unusable();
  }

  /** The grant's row comes first: whoever holds it is alone with all tokens of the grant, and no revocation overtakes. */
  private async answer(
    tx: Transaction,
    presented: RefreshRequest,
  ): Promise<IssuedTokens | undefined> {
    if (!(await this.grants.lock(tx, [presented.stored.grantId], this.clock.now())))
      return undefined;
    const rotated = this.isUsable(presented) ? await this.rotate(tx, [presented]) : undefined;
    return rotated?.[0] ?? this.answerAgain(tx, presented);
  }

  /** Those whose tokens were not used when they were looked up. */
  private async answerAll(
    tx: Transaction,
    all: readonly RefreshRequest[],
  ): Promise<IssuedTokens[]> {
    const grantIds = all.map(({ stored }) => stored.grantId);
    const areAlive = await this.grants.lock(tx, grantIds, this.clock.now());
    const tokens = areAlive ? await this.rotate(tx, all) : undefined;
    if (!tokens) throw unusable(false);
    return tokens;
  }

  /** Undefined, with nothing done, when a token was used since it was looked up. */
  private async rotate(
    tx: Transaction,
    all: readonly RefreshRequest[],
  ): Promise<IssuedTokens[] | undefined> {
    const now = this.clock.now();
    const pairs = all.map((presented) => this.successorOf(presented, now));
    const answers = all.map(({ value, stored }, place) => {
      const { tokens } = pairs[place] as NewTokens;
      return [stored.hash, encryptResponse(value, tokens)] as const;
    });
    if (!(await this.tokens.consumeRefresh(tx, new Map(answers), later(now, REPLAY_MS), now)))
      return undefined;
    const predecessors = all.flatMap(({ stored }) => stored.predecessorHash ?? []);
    const events = all.map(({ event }) => event);
    await this.tokens.insertAll(tx, pairs);
    await this.tokens.forgetAnswers(tx, predecessors);
    await this.audit.insertAll(tx, events);
    return pairs.map(({ tokens }) => tokens);
  }

  /** Whether the token may be followed by the next, as far as it was looked up. */
  private isUsable({ stored: { consumedAt, expiresAt, userStatus } }: RefreshRequest): boolean {
    return !consumedAt && userStatus === 'active' && expiresAt > this.clock.now();
  }

  /** Whether nothing is known that the refresh could be refused for. */
  private isOrdinary(presented: RefreshRequest): boolean {
    const { stored, scope } = presented;
    return this.isUsable(presented) && !stored.isRevoked && scope === undefined;
  }

  private successorOf({ stored, scope }: RefreshRequest, now: Date): NewTokens {
    const { hash, grantId, grantExpiresAt } = stored;
    const grant = { id: grantId, expiresAt: grantExpiresAt };
    return this.issuer.prepare(grant, narrowedScopes(stored, scope), now, hash);
  }

  /** Undefined when the token was not used, or came back as a theft, or when what it was answered with is dead. */
  private async answerAgain(
    tx: Transaction,
    { value, at, stored, scope }: RefreshRequest,
  ): Promise<IssuedTokens | undefined> {
    const use = await this.tokens.findUse(tx, stored.hash);
    if (!use) return undefined;
    const answer = repeatable(use, value, at);
    if (!answer) {
      await this.revocation.revokeStolen(tx, 'refresh_token.reused', {
        ...stored,
        id: stored.grantId,
      });
      return undefined;
    }
    if (stored.userStatus !== 'active') return undefined;
    if (await this.tokens.isRevoked(tx, sha256(answer.accessToken))) return undefined;
    if (formatScope(narrowedScopes(stored, scope)) !== formatScope(answer.scopes)) {
      throw new InvalidScope('The refresh token was used a moment ago with another scope.');
    }
    await this.audit.insertAll(tx, [this.eventOf('token.replayed', stored)]);
    return answer;
  }

  private eventOf(
    action: string,
    { grantId, clientId, userId }: StoredRefresh,
    actor = clientId,
  ): NewAuditEvent {
    return this.audit.event(action, grantId, { actor }, { clientId, userId });
  }
}

/** The response that a used token may get again, or null if its return is a theft. */
function repeatable(use: RefreshUse, value: string, at: Date): IssuedTokens | null {
  const { sealedAnswer, answerExpiresAt } = use;
  if (sealedAnswer === null || answerExpiresAt === null || at > answerExpiresAt) return null;
  return decryptResponse(value, sealedAnswer);
}

/** The scopes of the new access token: the grant's, or fewer (RFC 6749 §6). The next refresh starts from the grant's again. */
function narrowedScopes({ scope }: StoredRefresh, requested: string | undefined): Scope[] {
  const granted = parseScope(scope);
  if (requested === undefined) return granted;
  const wanted = splitScope(requested);
  if (wanted.length === 0) throw new InvalidScope('scope names no scope.');
  const names: readonly string[] = granted;
  if (!wanted.every((name) => names.includes(name)))
    throw new InvalidScope('scope may not exceed what the user granted.');
  return canonicalScopes(wanted);
}

/** `isGuess` unless the token was once issued to the app that shows it. */
function unusable(isGuess = true): InvalidGrant {
  return new InvalidGrant(
    'The refresh token is unknown, expired, revoked or was used before.',
    isGuess,
  );
}
