import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Clock, addMilliseconds, SECOND } from '../../../platform/clock.js';
import { formatScope, type Scope, parseScope } from '../../../platform/access/scopes.js';
import { newSecret, sha256, pooledRandomBytes } from '../../../platform/secrets.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import type { Transaction } from '../../../platform/database/transaction.js';
import { Metrics, modeOf } from '../../../platform/observability/metrics.js';
import type { App } from '../clients/client.entities.js';
import { GrantUsageRecorder } from './grant-usage-recorder.js';
import type { AuthorizationCode, Grant } from './token.entities.js';
import { REPEAT_KINDS, type RepeatKind } from './rotation.js';
import { TokensRepository, type TokenPair } from './tokens.repository.js';

/** A pair of tokens as the client receives it. The server stores only hashes. */
export interface IssuedTokens {
  accessToken: string;
  refreshToken: string;
  /** Expiry of the access token. */
  expiresAt: Date;
  scopes: readonly Scope[];
}

/** A pair of tokens that is not stored yet, with the rows to insert. */
export interface NewTokens extends TokenPair {
  tokens: IssuedTokens;
}

const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const;

type GrantType = (typeof GRANT_TYPES)[number];

const CODE_REPEAT_KINDS = ['retry', 'reuse'] as const;

/** A `retry` is only refused; `reuse` revokes the grant. */
export type CodeRepeatKind = (typeof CODE_REPEAT_KINDS)[number];

/** Creates authorization codes, and pairs of an access token and a refresh token. */
type Owner = Pick<Grant, 'clientId'> & { grantId: string };

@Injectable()
export class TokenIssuer {
  private readonly issued: Counter<'grant_type' | 'mode'>;
  private readonly replays: Counter<'kind' | 'mode'>;
  private readonly codeRepeats: Counter<'kind' | 'mode'>;

  constructor(
    private readonly tokens: TokensRepository,
    private readonly grantUsage: GrantUsageRecorder,
    private readonly clock: Clock,
    private readonly config: AppConfig,
    metrics: Metrics,
  ) {
    this.issued = metrics.counter(
      'oauth_tokens_issued_total',
      'Issued pairs of an access token and a refresh token, by grant type.',
      'grant_type',
      'mode',
    );
    for (const grant_type of GRANT_TYPES) this.issued.inc({ grant_type, mode: 'live' }, 0);
    this.replays = metrics.counter(
      'oauth_refresh_replays_total',
      'Used refresh tokens that were sent again, by kind: race and late got the stored response, reuse revoked the grant.',
      'kind',
      'mode',
    );
    for (const kind of REPEAT_KINDS) this.replays.inc({ kind, mode: 'live' }, 0);
    this.codeRepeats = metrics.counter(
      'oauth_code_repeats_total',
      'Used authorization codes that were sent again with the right verifier, by kind: retry was refused, reuse revoked the grant.',
      'kind',
      'mode',
    );
    for (const kind of CODE_REPEAT_KINDS) this.codeRepeats.inc({ kind, mode: 'live' }, 0);
  }

  /** Records a committed pair of tokens as a use of the grant, and counts it in the metric. */
  recordIssued(grant_type: GrantType, { grantId, clientId }: Owner): void {
    this.issued.inc({ grant_type, mode: modeOf(clientId) });
    this.grantUsage.record(grantId, this.clock.now());
  }

  recordCodeRepeat(kind: CodeRepeatKind, clientId: string): void {
    this.codeRepeats.inc({ kind, mode: modeOf(clientId) });
  }

  /** Counts a used refresh token that was sent again. If it got the stored response, records a use of the grant. */
  recordReplay(kind: RepeatKind, { grantId, clientId }: Owner): void {
    this.replays.inc({ kind, mode: modeOf(clientId) });
    if (kind !== 'reuse') this.grantUsage.record(grantId, this.clock.now());
  }

  /**
   * Creates an authorization code for a grant and stores it (RFC 6749 §4.1.2).
   * @param request what the exchange of the code is checked against
   */
  async issueCode(
    tx: Transaction,
    { id: grantId }: Pick<Grant, 'id'>,
    { redirectUri, codeChallenge }: Pick<AuthorizationCode, 'redirectUri' | 'codeChallenge'>,
  ): Promise<string> {
    const code = newSecret('svcac');
    const createdAt = this.clock.now();
    await this.tokens.insertCode(tx, {
      hash: sha256(code),
      grantId,
      redirectUri,
      codeChallenge,
      createdAt,
      expiresAt: addMilliseconds(createdAt, this.config.lifetimes.code * SECOND),
      consumedAt: null,
    });
    return code;
  }

  /** Creates a pair of tokens and stores it. The lifetime of the access token is the default. */
  async issue(
    tx: Transaction,
    { id: grantId, expiresAt: grantExpiresAt }: Pick<Grant, 'id' | 'expiresAt'>,
    scopes: readonly Scope[],
  ): Promise<IssuedTokens> {
    const app = { accessTokenSeconds: null };
    const pair = this.prepare({ grantId, grantExpiresAt, app }, scopes, this.clock.now());
    await this.tokens.insertPairs(tx, [pair]);
    return pair.tokens;
  }

  /**
   * Creates a pair of tokens without storing it. Neither token outlives the grant. A test app may have shorter access tokens.
   * @param options.predecessorHash the hash of the refresh token that the new one replaces
   */
  prepare(
    {
      grantId,
      grantExpiresAt,
      app,
    }: { grantId: string; grantExpiresAt: Date; app: Pick<App, 'accessTokenSeconds'> },
    scopes: readonly Scope[],
    now: Date,
    { predecessorHash = null }: { predecessorHash?: string | null } = {},
  ): NewTokens {
    const { accessToken: lifetime, refreshIdle } = this.config.lifetimes;
    const seconds = app.accessTokenSeconds ?? lifetime;
    const expiresAt = earlier(addMilliseconds(now, seconds * SECOND), grantExpiresAt);
    const accessToken = newSecret('svcat');
    const refreshToken = newSecret('svcrt');
    const common = { grantId, createdAt: now };
    return {
      tokens: { accessToken, refreshToken, expiresAt, scopes },
      access: {
        ...common,
        hash: sha256(accessToken),
        scope: formatScope(scopes),
        expiresAt,
        revokedAt: null,
      },
      refresh: {
        ...common,
        hash: sha256(refreshToken),
        expiresAt: earlier(addMilliseconds(now, refreshIdle * SECOND), grantExpiresAt),
        consumedAt: null,
        predecessorHash,
        encryptedResponse: null,
        responseExpiresAt: null,
        replayedAt: null,
      },
    };
  }
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

const CIPHER = 'aes-256-gcm';
/** HKDF info. Part of the key: another text makes stored responses unreadable. */
const KEY_INFO = 'answer to a refresh token';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Access token, refresh token, expiry of the access token (Unix time in milliseconds), scope. */
type Fields = [string, string, number, string];

/**
 * Encrypts the response to a refresh request. The key derives from the refresh token, which the server stores only as a hash.
 * @returns base64url of IV, tag and ciphertext: about 350 characters
 */
export function encryptResponse(token: string, response: IssuedTokens): string {
  const { accessToken, refreshToken, expiresAt, scopes } = response;
  const fields: Fields = [accessToken, refreshToken, expiresAt.getTime(), formatScope(scopes)];
  const iv = pooledRandomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(token), iv, { authTagLength: TAG_BYTES });
  const encrypted = Buffer.concat([cipher.update(JSON.stringify(fields)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url');
}

/** Returns null if `encrypted` belongs to another token or was changed. */
export function decryptResponse(token: string, encrypted: string): IssuedTokens | null {
  const bytes = Buffer.from(encrypted, 'base64url');
  const iv = bytes.subarray(0, IV_BYTES);
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, keyOf(token), iv, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(tag);
    const decrypted = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
    const text = Buffer.concat([decrypted, decipher.final()]).toString('utf8');
    const [accessToken, refreshToken, expiry, scope] = JSON.parse(text) as Fields;
    return { accessToken, refreshToken, expiresAt: new Date(expiry), scopes: parseScope(scope) };
  } catch {
    return null;
  }
}

/** HKDF-SHA-256 (RFC 5869), without a salt: the token has 256 random bits. */
function keyOf(token: string): Buffer {
  return Buffer.from(hkdfSync('sha256', token, '', KEY_INFO, KEY_BYTES));
}
