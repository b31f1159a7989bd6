import type { Answer } from '../../../command-line/command.js';
import { list, table } from '../../../command-line/tables.js';
import { SECOND } from '../../../common/clock.js';
import { SHOWN_ONCE } from './app-answer.js';
import type { Revocation, Rotation, SecretStatus } from './app-secrets.service.js';

const WITHOUT_SECRET =
  'The app has no live secret, so it cannot authenticate until "app secret rotate" gives it a new one.';
const PUBLIC_APP = 'A public app holds no client secret: it proves itself with PKCE.';

/** The new secret, and on standard error what became of the former ones. */
export function rotationAnswer(clientId: string, graceMs: number, rotation: Rotation): Answer {
  const { secret, secretId, former } = rotation;
  return {
    json: {
      client_id: clientId,
      client_secret: secret,
      secret_id: secretId,
      grace_seconds: graceMs / SECOND,
    },
    text: table([
      ['client_id', clientId],
      ['client_secret', secret],
      ['secret_id', secretId],
    ]),
    remark: [SHOWN_ONCE, ...former.map(fate)].join('\n'),
  };
}

/** A table, or with `--json` an array. Never a secret. */
export function secretsAnswer(isPublic: boolean, secrets: readonly SecretStatus[]): Answer {
  const isAlive = secrets.some(({ isLive }) => isLive);
  return {
    json: secrets.map(secretJson),
    text: list(
      ['SECRET_ID', 'LAST_FOUR', 'STATUS', 'CREATED', 'LAST_USED', 'EXPIRES'],
      secrets.map((secret) => [
        secret.id,
        secret.lastFour,
        statusOf(secret),
        moment(secret.createdAt),
        moment(secret.lastUsedAt),
        moment(secret.expiresAt),
      ]),
    ),
    ...(!isAlive && { remark: isPublic ? PUBLIC_APP : WITHOUT_SECRET }),
  };
}

export function revocationAnswer(clientId: string, revocation: Revocation): Answer {
  const { revoked, endedNow, live } = revocation;
  const remarks = [
    ...(endedNow ? [] : [`It had ended before, at ${moment(revoked.expiresAt)}.`]),
    ...(live === 0 ? [WITHOUT_SECRET] : []),
  ];
  return {
    json: { client_id: clientId, ...secretJson(revoked), live_secrets: live },
    text: table([
      ['client_id', clientId],
      ['secret_id', revoked.id],
      ['last_four', revoked.lastFour],
      ['status', statusOf(revoked)],
      ['expires_at', moment(revoked.expiresAt)],
      ['live_secrets', String(live)],
    ]),
    ...(remarks.length > 0 && { remark: remarks.join('\n') }),
  };
}

/** How a person tells secrets apart. */
export function described({ lastFour }: SecretStatus): string {
  return `the secret that ends in "${lastFour}"`;
}

function fate(secret: SecretStatus): string {
  const { isLive, expiresAt } = secret;
  const sentence = isLive ? `works until ${moment(expiresAt)}` : 'has ended';
  return `T${described(secret).slice(1)} ${sentence}.`;
}

function secretJson(secret: SecretStatus): object {
  return {
    secret_id: secret.id,
    last_four: secret.lastFour,
    status: statusOf(secret),
    created_at: secret.createdAt.toISOString(),
    last_used_at: secret.lastUsedAt?.toISOString() ?? null,
    expires_at: secret.expiresAt?.toISOString() ?? null,
  };
}

function statusOf({ isLive }: SecretStatus): 'live' | 'ended' {
  return isLive ? 'live' : 'ended';
}

function moment(time: Date | null): string {
  return time?.toISOString() ?? 'never';
}
