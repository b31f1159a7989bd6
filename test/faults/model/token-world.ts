import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { later } from '../../../src/common/clock.js';
import { parseScope } from '../../../src/common/scopes.js';
import { newSecret, sha256 } from '../../../src/common/secrets.js';
import { TransactionRunner } from '../../../src/database/transaction.js';
import { GrantOpener } from '../../../src/modules/oauth/grants/grant-opener.js';
import { AuthorizationCodesRepository } from '../../../src/modules/oauth/token/authorization-codes.repository.js';
import type { User } from '../../../src/modules/users/user.entity.js';
import { CHALLENGE } from '../../support/oauth-flow.js';
import type { TokenBody } from '../../support/responses.js';
import type { TestApp, TestClient } from '../../support/test-app.js';
import { type Done, explanations } from './explanations.js';
import { type ClientName, CLIENTS, type Request, Requests, type Told } from './token-request.js';
import { isStored, storedGrants, violationsIn } from './token-rows.js';
import { GRANTED, newGrant, type State, TokenRules } from './token-rules.js';
import { type Drawn, type Step, type TokenKind, USERS } from './token-steps.js';
import type { Tally } from './token-tally.js';

/** A code or token that was given out, and to whom. */
interface Known {
  name: string;
  value: string;
  client: ClientName;
}

type Credential = 'code' | TokenKind;

interface Exchanged extends Done {
  request: Request;
  told: Told;
}

/** The clients, users and grants of one sequence, and in which states the rules say that they may be. */
export class TokenWorld {
  private readonly known: Record<Credential, Known[]> = { code: [], access: [], refresh: [] };
  private readonly grantIds: string[] = [];
  private states: State[] = [[]];
  private readonly lines: string[] = [];
  private readonly requests: Requests;

  private constructor(
    private readonly app: TestApp,
    private readonly clients: Readonly<Record<ClientName, TestClient>>,
    private readonly users: readonly User[],
    private readonly tally: Tally,
  ) {
    this.requests = new Requests(app, clients);
  }

  /** Both clients have a code each. */
  static async begin(
    app: TestApp,
    clients: Readonly<Record<ClientName, TestClient>>,
    tally: Tally,
  ): Promise<TokenWorld> {
    const users = await Promise.all(Array.from({ length: USERS }, () => app.addUser()));
    const world = new TokenWorld(app, clients, users, tally);
    for (const client of CLIENTS) await world.consent(client, 0);
    return world;
  }

  /** @throws when no order of what was done at once explains the answers and what is stored */
  async take(step: Step): Promise<void> {
    if ('consent' in step) await this.consent(step.consent, step.user);
    else if ('waitMs' in step) this.wait(step.waitMs);
    else await this.sendAtOnce(step.atOnce);
  }

  /** Tries once more whatever was ever given out, and tallies how the grants ended. */
  async tryAll(): Promise<void> {
    const { access, refresh, code } = this.known;
    const requests: Request[] = [
      ...access.map(({ value: token }) => ({ kind: 'use', token }) as const),
      ...refresh.toReversed().map(({ value: token, client: by }) => {
        return { kind: 'refresh', by, token, mistake: null, scope: undefined } as const;
      }),
      ...code.map(({ value, client: by }) => {
        return { kind: 'exchange', by, value, mistake: null } as const;
      }),
    ];
    for (const request of requests) await this.explain([await this.send(request, 0)]);
    for (const place of this.grantIds.keys()) {
      const [ending, ...others] = new Set(this.states.map((state) => state[place]?.endedBy));
      if (ending && others.length === 0) this.tally.ended(ending);
    }
  }

  private async consent(client: ClientName, place: number): Promise<void> {
    const user = this.users[place] as User;
    const { clientId, redirectUris } = this.clients[client];
    const now = this.app.clock.now();
    const code = newSecret('svcac');
    const id = await this.app.service(TransactionRunner).run(async (tx) => {
      const opener = this.app.service(GrantOpener);
      const grant = await opener.open(tx, user.id, clientId, parseScope(GRANTED));
      const expiresAt = later(now, this.app.config.lifetimes.code * 1000);
      await this.app.service(AuthorizationCodesRepository).insert(tx, {
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
    this.learn('code', code, client);
    this.lines.push(`user ${place} allows ${client}: ${this.nameOf(code)}`);
  }

  private wait(milliseconds: number): void {
    this.app.clock.advance(milliseconds);
    this.lines.push(`${milliseconds} ms pass`);
  }

  private async sendAtOnce(drawn: readonly Drawn[]): Promise<void> {
    const requests = drawn.flatMap((each) => {
      const request = this.requestOf(each);
      return request ? [[request, each.afterMs] as const] : [];
    });
    if (requests.length === 0) return;
    const [earliest = 0] = requests.map(([, afterMs]) => afterMs).toSorted((a, b) => a - b);
    const done = await Promise.all(
      requests.map(([request, afterMs]) => this.send(request, afterMs - earliest)),
    );
    const overlap = done.some((one) =>
      done.some(
        (other) => one !== other && one.startedAt < other.endedAt && other.startedAt < one.endedAt,
      ),
    );
    if (overlap) this.tally.races += 1;
    await this.explain(done);
  }

  private async send(request: Request, afterMs: number): Promise<Exchanged> {
    if (afterMs > 0) await sleep(afterMs);
    const startedAt = performance.now();
    const told = await this.requests.send(request);
    const endedAt = performance.now();
    this.tally.answered(request, told);
    return { request, told, startedAt, endedAt };
  }

  private async explain(done: readonly Exchanged[]): Promise<void> {
    for (const { request, told } of done) this.learnFrom(request, told);
    this.say(done);
    const now = this.app.clock.now().getTime();
    const step = (state: State, { request, told }: Exchanged): State | null => {
      const next = structuredClone(state);
      return isDeepStrictEqual(new TokenRules(next, now).answer(request, told), told) ? next : null;
    };
    const states = explanations(this.states, done, step);
    if (states.length === 0) this.fail('No order of these requests explains their answers.');
    const stored = await storedGrants(this.app.dataSource, this.grantIds);
    const violations = stored.flatMap(violationsIn);
    if (violations.length > 0) this.fail(violations.join('\n'));
    this.states = states.filter((state) => isStored(state, stored));
    if (this.states.length === 0) this.fail('What is stored is not what the answers say.');
  }

  private requestOf(drawn: Drawn): Request | undefined {
    const { kind, fromNewest } = drawn;
    if (kind === 'remove') {
      const user = this.users[fromNewest % USERS] as User;
      return { kind, client: drawn.client, userId: user.id };
    }
    const some = this.known[credentialOf(drawn)];
    const found = some[some.length - 1 - (fromNewest % some.length)];
    if (!found) return undefined;
    const { value: token, client } = found;
    if (kind === 'use') return { kind, token };
    if (kind === 'introspect') return { kind, token };
    const by = drawn.isForeign ? otherThan(client) : client;
    if (kind === 'exchange') return { kind, by, value: token, mistake: drawn.mistake };
    const { mistake } = drawn;
    if (kind === 'refresh') return { kind, by, token, mistake, scope: drawn.scope };
    return { kind, by, token, mistake };
  }

  private learnFrom(request: Request, { status, body }: Told): void {
    if (status !== 200 || (request.kind !== 'exchange' && request.kind !== 'refresh')) return;
    const { access_token, refresh_token } = body as TokenBody;
    this.learn('access', access_token, request.by);
    if (!this.learn('refresh', refresh_token, request.by)) this.tally.repeated(request);
  }

  /** Answers whether it was not known before. */
  private learn(credential: Credential, value: string, client: ClientName): boolean {
    const some = this.known[credential];
    if (some.some((known) => known.value === value)) return false;
    some.push({ name: `${credential}${some.length + 1}`, value, client });
    return true;
  }

  private nameOf(value: string): string {
    const all = Object.values(this.known).flat();
    const user = this.users.findIndex(({ id }) => id === value);
    if (user !== -1) return `user ${user}`;
    return all.find((known) => known.value === value)?.name ?? value;
  }

  private say(done: readonly Exchanged[]): void {
    const begin = Math.min(...done.map(({ startedAt }) => startedAt));
    const said = done.map(({ request, told, startedAt, endedAt }) => {
      const { kind, ...details } = request;
      const asked = Object.values(details).filter((value) => value !== null && value !== undefined);
      const { access_token, refresh_token, ...body } = (told.body ?? {}) as Partial<TokenBody>;
      const tokens = [access_token, refresh_token].flatMap((token) => token ?? []);
      const rest = told.body ? JSON.stringify(body) : (told.error ?? '');
      const answer = [...tokens.map((token) => this.nameOf(token)), rest];
      const span = `${(startedAt - begin).toFixed(1)}–${(endedAt - begin).toFixed(1)} ms`;
      const question = asked.map((value) => this.nameOf(value)).join(' ');
      return `${kind} ${question}: ${told.status} ${answer.join(' ')} (${span})`;
    });
    this.lines.push(said.join('\n     '));
  }

  private fail(reason: string): never {
    const steps = this.lines.map((line, index) => `${index + 1}. ${line}`);
    throw new Error([reason, ...steps].join('\n'));
  }
}

function credentialOf(drawn: Exclude<Drawn, { kind: 'remove' }>): Credential {
  switch (drawn.kind) {
    case 'exchange':
      return 'code';
    case 'refresh':
      return 'refresh';
    case 'use':
      return 'access';
    default:
      return drawn.of;
  }
}

function otherThan(client: ClientName): ClientName {
  return client === 'Server' ? 'Phone' : 'Server';
}
