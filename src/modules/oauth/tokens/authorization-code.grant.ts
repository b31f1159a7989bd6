import { Injectable } from '@nestjs/common';
import { AuditLog, type NewAuditEvent } from '../../../platform/audit/audit-log.repository.js';
import { Clock, later, SECOND } from '../../../platform/clock.js';
import { parseScope } from '../../../platform/access/scopes.js';
import { isSecret, sha256 } from '../../../platform/secrets.js';
import { GroupCommit } from '../../../platform/database/group-commit.js';
import { TransactionRunner, type Transaction } from '../../../platform/database/transaction.js';
import type { App } from '../clients/client.entities.js';
import { GrantRevocation } from './grants.service.js';
import { GrantUse } from './grant-use.js';
import { GrantsRepository } from './grants.repository.js';
import { InvalidGrant } from '../protocol/oauth.errors.js';
import type { Parameters } from '../protocol/parameters.js';
import { AuthorizationCodesRepository, type IssuedCode } from './authorization-codes.repository.js';
import { checkVerifierForm, verifierMatches } from '../protocol/pkce.js';
import { TokenIssuer, type IssuedTokens, type NewTokens } from './token-issuer.js';
import { TokensRepository } from './tokens.repository.js';

/** A code whose client proved everything, and what it is exchanged for. */
interface Exchange {
  issued: IssuedCode;
  pair: NewTokens;
  event: NewAuditEvent;
}

/** A repeat this soon after the first exchange, or after its answer, is a client's retry, not a theft. */
const HARMLESS_REPEAT_MS = 10 * SECOND;

/**
 * The authorization code grant (RFC 6749 §4.1.3). What a client may have got wrong by accident is checked before the code
 * is spent; the verifier is compared after, so that a code allows one guess.
 */
@Injectable()
export class AuthorizationCodeGrant {
  private readonly commits: GroupCommit<Exchange, IssuedTokens>;

  constructor(
    private readonly codes: AuthorizationCodesRepository,
    private readonly grants: GrantsRepository,
    private readonly tokens: TokensRepository,
    private readonly issuer: TokenIssuer,
    private readonly revocation: GrantRevocation,
    private readonly use: GrantUse,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
  ) {
    this.commits = new GroupCommit(transactions, {
      batch: (tx, exchanges) => this.issue(tx, exchanges),
      single: async (tx, exchange) => {
        const [issued] = await this.issue(tx, [exchange]);
        return issued as IssuedTokens;
      },
      groupOf: ({ issued }) => (issued.isRevoked ? undefined : 'all'),
      keyOf: ({ issued }) => issued.grant.id,
    });
  }

  /** @throws InvalidRequest; InvalidGrant */
  async exchange(app: App, parameters: Parameters): Promise<IssuedTokens> {
    const at = this.clock.now();
    const value = parameters.require('code');
    const redirectUri = parameters.require('redirect_uri');
    const verifier = parameters.get('code_verifier');
    const issued = isSecret('svcac', value) ? await this.codes.find(sha256(value)) : null;
    if (issued?.grant.clientId !== app.clientId) throw unknownCode();
    const { code, grant, userStatus } = issued;
    if (!code.consumedAt && code.expiresAt <= at)
      throw new InvalidGrant('The code has expired.', false);
    if (code.redirectUri !== redirectUri) {
      throw new InvalidGrant('redirect_uri differs from the one of the authorization request.');
    }
    checkVerifierForm(code.codeChallenge, verifier);
    const provesVerifier = verifierMatches(code.codeChallenge, verifier);
    if (code.consumedAt) return this.refuseReplay(issued, provesVerifier, at);
    if (userStatus !== 'active') throw unknownCode(false);
    if (!provesVerifier) return this.spend(issued);
    const pair = this.issuer.prepare(grant, parseScope(grant.scope), this.clock.now());
    const event = this.eventOf('token.issued', issued);
    const tokens = await this.commits.run({ issued, pair, event });
    this.use.note(grant.id, this.clock.now());
    return tokens;
  }

  /** A wrong verifier spends the code all the same. */
  private async spend(issued: IssuedCode): Promise<never> {
    await this.transactions.run((tx) => this.areFirst(tx, [issued]));
    throw unknownCode();
  }

  private async issue(tx: Transaction, exchanges: readonly Exchange[]): Promise<IssuedTokens[]> {
    const codes = exchanges.map(({ issued }) => issued);
    if (!(await this.areFirst(tx, codes))) throw unknownCode(false);
    const pairs = exchanges.map(({ pair }) => pair);
    const events = exchanges.map(({ event }) => event);
    await this.tokens.insertAll(tx, pairs);
    await this.audit.insertAll(tx, events);
    return pairs.map(({ tokens }) => tokens);
  }

  /**
   * One conditional update decides who gets the tokens. The grants' rows are taken first, as everywhere: no revocation comes
   * between, and two units do not lock each other out.
   */
  private async areFirst(tx: Transaction, codes: readonly IssuedCode[]): Promise<boolean> {
    const now = this.clock.now();
    const grantIds = codes.map(({ grant }) => grant.id);
    const hashes = codes.map(({ code }) => code.hash);
    return (
      (await this.grants.lock(tx, grantIds, now)) && (await this.codes.consume(tx, hashes, now))
    );
  }

  private eventOf(action: string, { grant }: IssuedCode): NewAuditEvent {
    const { id, clientId, userId } = grant;
    return this.audit.event(action, id, { actor: clientId }, { clientId, userId });
  }

  /**
   * A code that comes back with everything right was stolen from one of the two who used it (RFC 6749 §4.1.2).
   * @param at when it came, however long it waited since
   */
  private async refuseReplay(
    { code, grant }: IssuedCode,
    provesVerifier: boolean,
    at: Date,
  ): Promise<never> {
    const harmlessUntil = later(code.consumedAt ?? at, HARMLESS_REPEAT_MS);
    if (provesVerifier && at >= harmlessUntil)
      await this.transactions.run((tx) => this.revocation.revokeStolen(tx, 'code.replayed', grant));
    throw unknownCode(!provesVerifier);
  }
}

/** `isGuess` unless the code was once issued to the app that shows it, with all that belongs to it. */
function unknownCode(isGuess = true): InvalidGrant {
  return new InvalidGrant(
    'The code is unknown, was used before, or was issued to another client.',
    isGuess,
  );
}
