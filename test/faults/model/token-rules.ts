import { DAY, HOUR, MINUTE, SECOND } from '../../../src/platform/clock.js';
import type { TokenBody } from '../../support/responses.js';
import type { ClientName, Request, Result } from './token-request.js';

/** Why a grant ended early: a repeated code or refresh token, a revocation by the app, or a user who disconnected the app. */
export type Ending = 'theft' | 'revocation' | 'disconnection';

/** A grant with its code and tokens. Times are milliseconds since 1970. */
export interface Grant {
  readonly client: ClientName;
  readonly userId: string;
  readonly expiresAt: number;
  endedBy: Ending | null;
  readonly code: { readonly value: string; readonly expiresAt: number; usedAt: number | null };
  readonly access: Access[];
  readonly refresh: Refresh[];
}

interface Access {
  readonly value: string;
  readonly scope: string;
  readonly expiresAt: number;
  isRevoked: boolean;
}

interface Refresh {
  readonly value: string;
  readonly expiresAt: number;
  usedAt: number | null;
  /** When the response was first repeated later than two seconds after the use. */
  repeatedLateAt: number | null;
  /** The response to the use of this token, until the refresh token in that response is used. */
  repeatable: { access: string; refresh: string; scope: string } | null;
}

/** All grants of a sequence. */
export type State = readonly Grant[];

/** The scope of every grant, and a narrower scope for refresh requests. */
export const GRANTED = 'profile.read posts.read';
export const NARROWER = 'profile.read';

const CODE_MS = 5 * MINUTE;
const ACCESS_MS = HOUR;
const REFRESH_MS = 30 * DAY;
const GRANT_MS = 180 * DAY;
const CODE_GRACE_MS = 10 * SECOND;
const REFRESH_GRACE_MS = 30 * SECOND;
/** Repeats within this time are one race; later ones are limited. */
const REFRESH_RACE_MS = 2 * SECOND;

const INVALID_GRANT: Result = { status: 400, error: 'invalid_grant' };
const INVALID_SCOPE: Result = { status: 400, error: 'invalid_scope' };
const INVALID_REQUEST: Result = { status: 400, error: 'invalid_request' };
const INVALID_CLIENT: Result = { status: 401, error: 'invalid_client' };
const INVALID_TOKEN: Result = { status: 401, error: 'invalid_token' };
const INACTIVE: Result = { status: 200, body: { active: false } };

/** A new grant with its code. */
export function newGrant(client: ClientName, userId: string, value: string, now: number): Grant {
  const code = { value, expiresAt: now + CODE_MS, usedAt: null };
  const expiresAt = now + GRANT_MS;
  return { client, userId, expiresAt, endedBy: null, code, access: [], refresh: [] };
}

/** Predicts responses to requests about codes and tokens at one moment. */
export class TokenRules {
  /** @param grants are changed by the requests */
  constructor(
    private readonly grants: State,
    private readonly now: number,
  ) {}

  /** Predicts the response; `actual` is the actual one, from which the model takes new tokens. */
  predict(request: Request, actual: Result): Result {
    switch (request.kind) {
      case 'exchange':
        return this.exchange(request, actual);
      case 'refresh':
        return this.refresh(request, actual);
      case 'revoke':
        return this.revoke(request);
      case 'use':
        return this.use(request.token);
      case 'introspect':
        return this.introspect(request.token);
      case 'disconnect':
        return this.disconnect(request);
    }
  }

  private exchange(request: Request & { kind: 'exchange' }, actual: Result): Result {
    const { client, code: value, mistake } = request;
    if (mistake === 'secret') return INVALID_CLIENT;
    const grant = this.grants.find(({ code }) => code.value === value);
    if (grant?.client !== client) return INVALID_GRANT;
    const { code } = grant;
    if (code.usedAt === null && this.now >= code.expiresAt) return INVALID_GRANT;
    if (mistake === 'redirect_uri') return INVALID_GRANT;
    // Only the public client sends a challenge.
    if (mistake === 'verifier' && client === 'Server') return INVALID_REQUEST;
    if (code.usedAt !== null) {
      const isTheft = mistake === null && this.now - code.usedAt >= CODE_GRACE_MS;
      if (isTheft) grant.endedBy ??= 'theft';
      return INVALID_GRANT;
    }
    if (!this.isLive(grant)) return INVALID_GRANT;
    code.usedAt = this.now;
    return mistake === 'verifier' ? INVALID_GRANT : this.issue(grant, GRANTED, actual);
  }

  private refresh(request: Request & { kind: 'refresh' }, actual: Result): Result {
    const { client, token, mistake, scope = GRANTED } = request;
    if (mistake === 'secret') return INVALID_CLIENT;
    const found = this.find('refresh', token);
    if (found?.grant.client !== client || !this.isLive(found.grant)) return INVALID_GRANT;
    const { grant, credential: used } = found;
    if (used.usedAt !== null) return this.repeat(grant, used, scope);
    if (this.now >= used.expiresAt) return INVALID_GRANT;
    if (!isGranted(scope)) return INVALID_SCOPE;
    const result = this.issue(grant, scope, actual);
    for (const earlier of grant.refresh) earlier.repeatable = null;
    const { access_token: access, refresh_token: refresh } = result.body as TokenBody;
    used.usedAt = this.now;
    used.repeatable = { access, refresh, scope };
    return result;
  }

  /** A used refresh token that is sent again: at first a race or a retry after a lost response, later a sign of theft. */
  private repeat(grant: Grant, used: Refresh, scope: string): Result {
    const { usedAt, repeatable, repeatedLateAt } = used;
    const access = grant.access.find(({ value }) => value === repeatable?.access);
    const isRace = this.now <= (repeatedLateAt ?? usedAt ?? 0) + REFRESH_RACE_MS;
    const isExpired = this.now > (usedAt ?? 0) + REFRESH_GRACE_MS;
    // A refresh appends its token, so each token follows the one that it replaced.
    const replaced = grant.refresh[grant.refresh.indexOf(used) - 1];
    const isSecond = repeatedLateAt !== null || (replaced && replaced.repeatedLateAt !== null);
    if (!repeatable || !access || access.isRevoked || (!isRace && (isExpired || isSecond))) {
      grant.endedBy ??= 'theft';
      return INVALID_GRANT;
    }
    if (scope !== repeatable.scope) return INVALID_SCOPE;
    if (!isRace) used.repeatedLateAt = this.now;
    return this.tokenResponse(access, repeatable.refresh);
  }

  private revoke({ client, token, mistake }: Request & { kind: 'revoke' }): Result {
    if (mistake === 'secret') return INVALID_CLIENT;
    const access = this.find('access', token);
    const grant = access?.grant ?? this.find('refresh', token)?.grant;
    if (grant && grant.client !== client) return INVALID_REQUEST;
    if (access) access.credential.isRevoked = true;
    else if (grant) grant.endedBy ??= 'revocation';
    return { status: 200, body: {} };
  }

  private use(token: string): Result {
    const found = this.find('access', token);
    if (!found || !this.isLive(found.grant) || !this.isValid(found.credential))
      return INVALID_TOKEN;
    return { status: 200, body: { id: found.grant.userId } };
  }

  /** Always a request of the confidential client. */
  private introspect(token: string): Result {
    const access = this.find('access', token);
    const refresh = this.find('refresh', token);
    const grant = access?.grant ?? refresh?.grant;
    if (grant?.client !== 'Server' || !this.isLive(grant)) return INACTIVE;
    const isActive = access ? this.isValid(access.credential) : this.isUsable(refresh?.credential);
    if (!isActive) return INACTIVE;
    const scope = access?.credential.scope ?? GRANTED;
    return { status: 200, body: { active: true, scope, sub: grant.userId } };
  }

  private disconnect({ client, userId }: Request & { kind: 'disconnect' }): Result {
    for (const grant of this.grants)
      if (grant.client === client && grant.userId === userId) grant.endedBy ??= 'disconnection';
    return { status: 200, body: {} };
  }

  private issue(grant: Grant, scope: string, actual: Result): Result {
    const { access_token, refresh_token } = (actual.body ?? {}) as Partial<TokenBody>;
    const access = {
      value: this.isNew(access_token) ? access_token : 'a new access token',
      scope,
      expiresAt: Math.min(this.now + ACCESS_MS, grant.expiresAt),
      isRevoked: false,
    };
    const refresh = {
      value: this.isNew(refresh_token) ? refresh_token : 'a new refresh token',
      expiresAt: Math.min(this.now + REFRESH_MS, grant.expiresAt),
      usedAt: null,
      repeatedLateAt: null,
      repeatable: null,
    };
    grant.access.push(access);
    grant.refresh.push(refresh);
    return this.tokenResponse(access, refresh.value);
  }

  private tokenResponse({ value, scope, expiresAt }: Access, refresh_token: string): Result {
    const expires_in = Math.max(1, Math.ceil((expiresAt - this.now) / SECOND));
    const tokens = { access_token: value, token_type: 'Bearer', expires_in, refresh_token, scope };
    return { status: 200, body: tokens satisfies TokenBody };
  }

  private find<K extends 'access' | 'refresh'>(kind: K, value: string) {
    for (const grant of this.grants)
      for (const credential of grant[kind])
        if (credential.value === value)
          return { grant, credential: credential as Grant[K][number] };
    return undefined;
  }

  private isNew(value: string | undefined): value is string {
    return value !== undefined && !this.find('access', value) && !this.find('refresh', value);
  }

  private isLive({ endedBy, expiresAt }: Grant): boolean {
    return endedBy === null && this.now < expiresAt;
  }

  private isValid({ isRevoked, expiresAt }: Access): boolean {
    return !isRevoked && this.now < expiresAt;
  }

  private isUsable(token: Refresh | undefined): boolean {
    return token?.usedAt === null && this.now < token.expiresAt;
  }
}

function isGranted(scope: string): boolean {
  return scope === GRANTED || scope === NARROWER;
}
