import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { AccessToken } from '../../../src/modules/oauth/token/access-token.entity.js';
import { RefreshToken } from '../../../src/modules/oauth/token/refresh-token.entity.js';
import type { User } from '../../../src/modules/users/user.entity.js';
import { startProcess, type AppProcess } from '../../support/app-process.js';
import { onEachServer } from '../../support/engines.js';
import { freePort } from '../../support/free-port.js';
import { json, type TokenBody } from '../../support/json.js';
import { TestApp, type TestClient } from '../../support/test-app.js';
import { approve, exchange, requestToken, type Site } from '../../support/visitor.js';

const ROUNDS = Number(process.env.RACE_ROUNDS ?? 3);
const RACERS = 50;
const BUDGETS = ['OAUTH_TOKEN_FAILURES', 'OAUTH_TOKEN_ADDRESS_FAILURES', 'OTP_RESEND_SECONDS'];
const SEND_BUDGETS = ['OTP_PHONE_HOURLY', 'OTP_PHONE_DAILY', 'OTP_ADDRESS_HOURLY'];

/** Two processes behind one public URL, each answering every other request. */
class Pair implements Site {
  private requests = 0;

  constructor(
    readonly baseUrl: string,
    private readonly processes: readonly [AppProcess, AppProcess],
  ) {}

  readonly sms = {
    password: async (phone: string): Promise<string> => {
      let password: string | undefined;
      await expect.poll(async () => (password = await this.newestTo(phone))).toBeDefined();
      return password ?? '';
    },
  };

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    this.requests += 1;
    const { baseUrl } = this.processes[this.requests % 2 === 0 ? 0 : 1];
    return fetch(new URL(path, baseUrl), { redirect: 'manual', ...init });
  }

  stop(): Promise<number[]> {
    return Promise.all(this.processes.map((process) => process.stop()));
  }

  private async newestTo(phone: string): Promise<string | undefined> {
    const files = this.processes.map(({ smsFile }) => readFile(smsFile, 'utf8').catch(() => ''));
    const lines = (await Promise.all(files)).join('').split('\n');
    const texts = lines.filter((line) => line.includes(phone));
    return /\b\d{6}\b/.exec(texts.at(-1)?.replace(phone, '') ?? '')?.[0];
  }
}

onEachServer('Fifty exchanges of one code in two processes', (database) => {
  let operator: TestApp;
  let pair: Pair;
  let client: TestClient;

  beforeAll(async () => {
    operator = await TestApp.start(database);
    operator.clock.set(new Date().toISOString());
    client = await operator.addClient();
    const publicUrl = `http://127.0.0.1:${await freePort()}`;
    const env = {
      PUBLIC_URL: publicUrl,
      OTP_PEPPER: randomBytes(32).toString('hex'),
      ...Object.fromEntries([...BUDGETS, ...SEND_BUDGETS].map((name) => [name, '0'])),
    };
    const { url } = database;
    const start = (): Promise<AppProcess> => startProcess({ url, env });
    pair = new Pair(publicUrl, await Promise.all([start(), start()]));
  });

  afterAll(async () => {
    await pair?.stop();
    await operator?.stop();
  });

  function rows(): Promise<number[]> {
    const { dataSource } = operator;
    return Promise.all([AccessToken, RefreshToken].map((each) => dataSource.manager.count(each)));
  }

  async function race(user: User): Promise<void> {
    const code = (await approve(pair, user, client)).get('code') ?? '';
    const before = await rows();
    const answers = await Promise.all(
      Array.from({ length: RACERS }, () => exchange(pair, client, code)),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array<number>(RACERS - 1).fill(400)]);
    for (const answer of answers.filter(({ status }) => status === 400))
      expect(await json(answer)).toMatchObject({ error: 'invalid_grant' });
    expect(await rows()).toEqual(before.map((count) => count + 1));
    const winner = answers.find(({ status }) => status === 200);
    const { access_token, refresh_token } = await json<TokenBody>(winner ?? Response.error());
    const headers = { authorization: `Bearer ${access_token}` };
    const me = await json(await pair.fetch('/dev/v1/me', { headers }));
    expect(me).toMatchObject({ id: user.id });
    const renewal = { grant_type: 'refresh_token', refresh_token };
    expect((await requestToken(pair, client, renewal)).status).toBe(200);
  }

  it(
    `O77 One gets tokens that work and the others invalid_grant, ${ROUNDS} times`,
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) await race(await operator.addUser());
    },
    30_000 + ROUNDS * 5_000,
  );
});
