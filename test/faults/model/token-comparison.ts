import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { addMilliseconds } from '../../../src/platform/clock.js';
import { parseScope } from '../../../src/platform/access/scopes.js';
import { newSecret, sha256 } from '../../../src/platform/secrets.js';
import { TransactionRunner } from '../../../src/platform/database/transaction.js';
import { GrantsService } from '../../../src/modules/oauth/tokens/grants.service.js';
import { TokensRepository } from '../../../src/modules/oauth/tokens/tokens.repository.js';
import type { UserWithPhone } from '../../../src/modules/users/users.service.js';
import { CHALLENGE } from '../../support/oauth-flow.js';
import type { TokenBody } from '../../support/responses.js';
import type { TestApp, TestClient } from '../../support/test-app.js';
import { type TimedOperation, linearizations } from './linearizability.js';
import { type ClientName, CLIENTS, type Request, Requests, type Result } from './token-request.js';
import { rowsMatchModel, storedGrants, violationsIn } from './token-rows.js';
import { GRANTED, type Ending, newGrant, type State, TokenRules } from './token-rules.js';
import { type DrawnRequest, type Step, type TokenKind, USER_COUNT } from './token-steps.js';

/** An issued code or token with its client. */
interface Issued {
  /** A short name for messages, such as `refresh2`. */
  name: string;
  value: string;
  client: ClientName;
}

type CredentialKind = 'code' | TokenKind;

interface TimedRequest extends TimedOperation {
  request: Request;
  result: Result;
}

/** The clients, users and grants of one sequence, and their possible states by the rules. */
export class TokenComparison {
  private readonly issued: Record<CredentialKind, Issued[]> = { code: [], access: [], refresh: [] };
  private readonly grantIds: string[] = [];
  private states: State[] = [[]];
  private readonly lines: string[] = [];
  private readonly requests: Requests;

  private constructor(
    private readonly app: TestApp,
    private readonly clients: Readonly<Record<ClientName, TestClient>>,
    private readonly users: readonly UserWithPhone[],
    private readonly tally: Tally,
  ) {
    this.requests = new Requests(app, clients);
  }

  /** Creates the clients and users. User 0 allows each client, so that each client has an unused code. */
  static async begin(app: TestApp, tally: Tally): Promise<TokenComparison> {
    const clients = {
      Server: await app.addClient({ name: 'Server', scope: GRANTED }),
      Phone: await app.addClient({ name: 'Phone', scope: GRANTED, kind: 'public' }),
    };
    const users = await Promise.all(Array.from({ length: USER_COUNT }, () => app.addUser()));
    const comparison = new TokenComparison(app, clients, users, tally);
    for (const client of CLIENTS) await comparison.consent(client, 0);
    return comparison;
  }

  /** @throws when no order of the concurrent requests explains the responses and the rows */
  async run(step: Step): Promise<void> {
    if ('consent' in step) await this.consent(step.consent, step.user);
    else if ('waitMs' in step) this.wait(step.waitMs);
    else await this.sendAtOnce(step.atOnce);
  }

  /** Sends each issued code and token once more, and counts how the grants ended. */
  async resendAll(): Promise<void> {
    const { access, refresh, code } = this.issued;
    const requests: Request[] = [
      ...access.map(({ value: token }) => ({ kind: 'use', token }) as const),
      ...refresh.toReversed().map(({ value: token, client }) => {
        return { kind: 'refresh', client, token, mistake: null, scope: undefined } as const;
      }),
      ...code.map(({ value, client }) => {
        return { kind: 'exchange', client, code: value, mistake: null } as const;
      }),
    ];
    for (const request of requests) await this.explain([await this.send(request, 0)]);
    // Counts only the endings on which all possible states agree.
    for (const index of this.grantIds.keys()) {
      const [ending, ...others] = new Set(this.states.map((state) => state[index]?.endedBy));
      if (ending && others.length === 0) this.tally.ended(ending);
    }
  }

  private async consent(client: ClientName, userIndex: number): Promise<void> {
    const user = this.users[userIndex] as UserWithPhone;
    const { clientId, redirectUris } = this.clients[client];
    const now = this.app.clock.now();
    const code = newSecret('svcac');
    const id = await this.app.service(TransactionRunner).run(async (tx) => {
      const grants = this.app.service(GrantsService);
      const grant = await grants.create(tx, user.id, clientId, parseScope(GRANTED));
      const expiresAt = addMilliseconds(now, this.app.config.lifetimes.code * 1000);
      await this.app.service(TokensRepository).insertCode(tx, {
        hash: sha256(code),
        grantId: grant.id,
        redirectUri: redirectUris[0] ?? '',
        codeChallenge: client === 'Phone' ? CHALLENGE : null,
        createdAt: now,
        expiresAt,
        consumedAt: null,
      });
      return grant.id;
    });
    this.grantIds.push(id);
    this.states = this.states.map((state) => [
      ...state,
      newGrant(client, user.id, code, now.getTime()),
    ]);
    this.remember('code', code, client);
    this.lines.push(`user ${userIndex} allows ${client}: ${this.nameOf(code)}`);
  }

  private wait(milliseconds: number): void {
    this.app.clock.advance(milliseconds);
    this.lines.push(`${milliseconds} ms pass`);
  }

  private async sendAtOnce(drawn: readonly DrawnRequest[]): Promise<void> {
    const requests = drawn.flatMap((each) => {
      const request = this.requestOf(each);
      return request ? [[request, each.afterMs] as const] : [];
    });
    if (requests.length === 0) return;
    const [earliest = 0] = requests.map(([, afterMs]) => afterMs).toSorted((a, b) => a - b);
    const done = await Promise.all(
      requests.map(([request, afterMs]) => this.send(request, afterMs - earliest)),
    );
    const haveOverlapped = done.some((one) =>
      done.some(
        (other) => one !== other && one.startedAt < other.endedAt && other.startedAt < one.endedAt,
      ),
    );
    if (haveOverlapped) this.tally.races += 1;
    await this.explain(done);
  }

  private async send(request: Request, afterMs: number): Promise<TimedRequest> {
    if (afterMs > 0) await sleep(afterMs);
    const startedAt = performance.now();
    const result = await this.requests.send(request);
    const endedAt = performance.now();
    this.tally.record(request, result);
    return { request, result, startedAt, endedAt };
  }

  /** Asserts that some order of these requests explains their responses and the rows. Keeps the possible states. */
  private async explain(done: readonly TimedRequest[]): Promise<void> {
    for (const { request, result } of done) this.rememberTokens(request, result);
    this.log(done);
    const now = this.app.clock.now().getTime();
    const step = (state: State, { request, result }: TimedRequest): State | null => {
      const next = structuredClone(state);
      return isDeepStrictEqual(new TokenRules(next, now).predict(request, result), result)
        ? next
        : null;
    };
    const states = linearizations(this.states, done, step);
    if (states.length === 0) this.fail('No order of these requests explains their responses.');
    const stored = await storedGrants(this.app.dataSource, this.grantIds);
    const violations = stored.flatMap(violationsIn);
    if (violations.length > 0) this.fail(violations.join('\n'));
    this.states = states.filter((state) => rowsMatchModel(state, stored));
    if (this.states.length === 0) this.fail('The rows do not match the responses.');
  }

  private requestOf(drawn: DrawnRequest): Request | undefined {
    const { kind, fromNewest } = drawn;
    if (kind === 'disconnect') {
      const user = this.users[fromNewest % USER_COUNT] as UserWithPhone;
      return { kind, client: drawn.client, userId: user.id };
    }
    const some = this.issued[credentialOf(drawn)];
    const found = some[some.length - 1 - (fromNewest % some.length)];
    if (!found) return undefined;
    const { value: token, client: owner } = found;
    if (kind === 'use') return { kind, token };
    if (kind === 'introspect') return { kind, token };
    const client = drawn.isForeign ? otherThan(owner) : owner;
    if (kind === 'exchange') return { kind, client, code: token, mistake: drawn.mistake };
    const { mistake } = drawn;
    if (kind === 'refresh') return { kind, client, token, mistake, scope: drawn.scope };
    return { kind, client, token, mistake };
  }

  private rememberTokens(request: Request, { status, body }: Result): void {
    if (status !== 200 || (request.kind !== 'exchange' && request.kind !== 'refresh')) return;
    const { access_token, refresh_token } = body as TokenBody;
    this.remember('access', access_token, request.client);
    if (!this.remember('refresh', refresh_token, request.client)) this.tally.repeated(request);
  }

  /** Returns whether the value is new. */
  private remember(credential: CredentialKind, value: string, client: ClientName): boolean {
    const some = this.issued[credential];
    if (some.some((issued) => issued.value === value)) return false;
    some.push({ name: `${credential}${some.length + 1}`, value, client });
    return true;
  }

  private nameOf(value: string): string {
    const all = Object.values(this.issued).flat();
    const user = this.users.findIndex(({ id }) => id === value);
    if (user !== -1) return `user ${user}`;
    return all.find((issued) => issued.value === value)?.name ?? value;
  }

  private log(done: readonly TimedRequest[]): void {
    const firstStart = Math.min(...done.map(({ startedAt }) => startedAt));
    const entries = done.map(({ request, result, startedAt, endedAt }) => {
      const { kind, ...details } = request;
      const values = Object.values(details).filter(
        (value) => value !== null && value !== undefined,
      );
      const { access_token, refresh_token, ...body } = (result.body ?? {}) as Partial<TokenBody>;
      const tokens = [access_token, refresh_token].flatMap((token) => token ?? []);
      const rest = result.body ? JSON.stringify(body) : (result.error ?? '');
      const response = [...tokens.map((token) => this.nameOf(token)), rest];
      const span = `${(startedAt - firstStart).toFixed(1)}–${(endedAt - firstStart).toFixed(1)} ms`;
      const parameters = values.map((value) => this.nameOf(value)).join(' ');
      return `${kind} ${parameters}: ${result.status} ${response.join(' ')} (${span})`;
    });
    this.lines.push(entries.join('\n     '));
  }

  private fail(reason: string): never {
    const steps = this.lines.map((line, index) => `${index + 1}. ${line}`);
    throw new Error([reason, ...steps].join('\n'));
  }
}

function credentialOf(drawn: Exclude<DrawnRequest, { kind: 'disconnect' }>): CredentialKind {
  switch (drawn.kind) {
    case 'exchange':
      return 'code';
    case 'refresh':
      return 'refresh';
    case 'use':
      return 'access';
    default:
      return drawn.tokenKind;
  }
}

function otherThan(client: ClientName): ClientName {
  return client === 'Server' ? 'Phone' : 'Server';
}

/** Counts over all sequences of a test. */
export class Tally {
  responses = 0;
  /** Number of steps with overlapping requests. */
  races = 0;
  /** Counts of each response by kind of request, and of other events. */
  readonly outcomes = new Map<string, number>();

  record({ kind }: Request, { status, body, error }: Result): void {
    this.responses += 1;
    const isActive = kind === 'introspect' && body !== undefined && 'scope' in body;
    this.add([kind, status, ...(isActive ? ['active'] : []), ...(error ? [error] : [])].join(' '));
  }

  /** Counts a token request that got the same tokens as before. */
  repeated({ kind }: Request): void {
    this.add(`${kind} repeated`);
  }

  ended(ending: Ending): void {
    this.add(`grant ended by ${ending}`);
  }

  private add(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }
}
