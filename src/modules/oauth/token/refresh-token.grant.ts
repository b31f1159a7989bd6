import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../audit/audit-log.repository.js';
import { Clock, later, SECOND } from '../../../common/clock.js';
import {
  canonicalScopes,
  formatScope,
  parseScope,
  splitScope,
  type Scope,
} from '../../../common/scopes.js';
import { isSecret, sha256 } from '../../../common/secrets.js';
import { TransactionRunner, type Transaction } from '../../../database/transaction.js';
import type { App } from '../apps/app.entity.js';
import { GrantRevocation } from '../grants/grant-revocation.js';
import { GrantUse } from '../grants/grant-use.js';
import { GrantsRepository } from '../grants/grants.repository.js';
import { InvalidGrant, InvalidScope } from '../oauth.errors.js';
import type { Parameters } from '../parameters.js';
import { openAnswer, sealAnswer, type RefreshAnswer } from './sealed-answer.js';
import { secondsLeft, TokenIssuer, type IssuedTokens } from './token-issuer.js';
import { TokensRepository, type RefreshUse, type StoredRefresh } from './tokens.repository.js';

/** So long after its use, a refresh token may come back for the answer that got lost. */
const REPLAY_MS = 30 * SECOND;

/** One request: the token as it came, what is stored about it, and the `scope` parameter. */
interface Presented {
  value: string;
  stored: StoredRefresh;
  scope: string | undefined;
}

/**
 * The refresh grant (RFC 6749 §6). Every refresh token is used once and followed by the next (RFC 9700 §4.14.2).
 *
 * A used one that comes back was copied, and ends its grant. But it is no theft when an answer got lost, or when two workers
 * of a client refresh at once: so within 30 seconds, and until the successor is used, the same answer is given again.
 * All who raced end up with one successor, and the first use of it closes the window.
 */
@Injectable()
export class RefreshTokenGrant {
  constructor(
    private readonly tokens: TokensRepository,
    private readonly grants: GrantsRepository,
    private readonly issuer: TokenIssuer,
    private readonly revocation: GrantRevocation,
    private readonly use: GrantUse,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws InvalidRequest; InvalidScope, which spends and ends nothing, also when an answer is asked for again with another
   * scope than the first time: an honest second worker must not end its user's grant, and a thief gains nothing by it;
   * InvalidGrant, which for a used token ends its grant
   */
  async refresh(app: App, parameters: Parameters): Promise<IssuedTokens> {
    const value = parameters.require('refresh_token');
    const stored = await this.find(app, value);
    const presented = { value, stored, scope: parameters.get('scope') };
    const tokens = await this.transactions.run((tx) => this.answer(tx, presented));
    if (!tokens) throw unusable(false);
    this.use.note(stored.grantId, this.clock.now());
    return tokens;
  }

  private async find(app: App, value: string): Promise<StoredRefresh> {
    const stored = isSecret('svcrt', value) ? await this.tokens.findRefresh(sha256(value)) : null;
    if (!stored) throw unusable();
    if (stored.clientId === app.clientId) return stored;
    await this.transactions.run((tx) => this.record(tx, 'token.foreign', stored, app.clientId));
    throw unusable();
  }

  /** The grant's row comes first: whoever holds it is alone with all tokens of the grant, and no revocation overtakes. */
  private async answer(tx: Transaction, presented: Presented): Promise<IssuedTokens | undefined> {
    const { grantId, consumedAt } = presented.stored;
    if (!(await this.grants.lock(tx, grantId, this.clock.now()))) return undefined;
    const issued = consumedAt ? undefined : await this.rotate(tx, presented);
    return issued ?? this.answerAgain(tx, presented);
  }

  /** Undefined when the token expired, or was used since it was looked up, or its user is blocked. */
  private async rotate(
    tx: Transaction,
    { value, stored, scope }: Presented,
  ): Promise<IssuedTokens | undefined> {
    const now = this.clock.now();
    if (stored.userStatus !== 'active' || stored.expiresAt <= now) return undefined;
    const { hash, grantId, grantExpiresAt, predecessorHash } = stored;
    const grant = { id: grantId, expiresAt: grantExpiresAt };
    const next = this.issuer.prepare(grant, narrowedScopes(stored, scope), now, hash);
    const sealedAnswer = sealAnswer(value, next.tokens);
    const answer = { sealedAnswer, answerExpiresAt: later(now, REPLAY_MS) };
    if (!(await this.tokens.consumeRefresh(tx, hash, answer, now))) return undefined;
    await this.tokens.insert(tx, next.access, next.refresh);
    if (predecessorHash !== null) await this.tokens.forgetAnswer(tx, predecessorHash);
    await this.record(tx, 'token.refreshed', stored);
    return next.tokens;
  }

  /** Undefined when the token was not used, or came back as a theft, or when what it was answered with is dead. */
  private async answerAgain(
    tx: Transaction,
    { value, stored, scope }: Presented,
  ): Promise<IssuedTokens | undefined> {
    const now = this.clock.now();
    const use = await this.tokens.findUse(tx, stored.hash);
    if (!use) return undefined;
    const answer = repeatable(use, value, now);
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
    await this.record(tx, 'token.replayed', stored);
    return { ...answer, expiresIn: secondsLeft(answer.expiresAt, now) };
  }

  private record(
    tx: Transaction,
    action: string,
    { grantId, clientId, userId }: StoredRefresh,
    actor = clientId,
  ): Promise<void> {
    return this.audit.record(tx, action, grantId, { actor }, { clientId, userId });
  }
}

/** What to answer a used token with again, or null when its return is a theft. */
function repeatable(use: RefreshUse, value: string, now: Date): RefreshAnswer | null {
  const { sealedAnswer, answerExpiresAt } = use;
  if (sealedAnswer === null || answerExpiresAt === null || now > answerExpiresAt) return null;
  return openAnswer(value, sealedAnswer);
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
