import type { AdapterPayload } from 'oidc-provider';
import type { SqlValue } from '../../bulk-insert.js';

/** The columns, besides the id, by which the library finds objects. */
const LOOKUPS = {
  grant_id: (payload: AdapterPayload) => payload.grantId,
  uid: (payload: AdapterPayload) => payload.uid,
  user_code: (payload: AdapterPayload) => payload.userCode,
};
type Lookup = keyof typeof LOOKUPS;

/** The models of the enabled features, and DeviceCode, which the adapter interface requires, with their lookup columns. */
const MODELS: Record<string, readonly Lookup[]> = {
  AccessToken: ['grant_id'],
  AuthorizationCode: ['grant_id'],
  RefreshToken: ['grant_id'],
  DeviceCode: ['grant_id', 'user_code'],
  Session: ['uid'],
  Interaction: [],
  Grant: [],
  Client: [],
};

/** The table of one model: the payload as JSON, and the lookup columns. */
export interface ModelTable {
  name: string;
  columns: readonly string[];
  /** The values of `columns`. `expiresIn` is in seconds; undefined means that the object never expires. */
  row(id: string, payload: AdapterPayload, expiresIn: number | undefined): SqlValue[];
}

/** @throws for a model of a disabled feature */
export function tableOf(model: string): ModelTable {
  const lookups = lookupsOf(model);
  return {
    name: nameOf(model),
    columns: ['id', 'payload', 'expires_at', ...lookups],
    row: (id, payload, expiresIn) => [
      id,
      JSON.stringify(payload),
      expiresIn === undefined ? null : epochSeconds() + expiresIn,
      ...lookups.map((lookup) => LOOKUPS[lookup](payload) ?? null),
    ],
  };
}

/** The statements that recreate all tables. */
export function schema(): string[] {
  return Object.keys(MODELS).flatMap((model) => [
    `DROP TABLE IF EXISTS ${nameOf(model)}`,
    definition(model),
  ]);
}

/** Seconds since 1970, the time unit of the library. */
export function epochSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

function definition(model: string): string {
  const lookups = lookupsOf(model);
  return `CREATE TABLE ${nameOf(model)} (${[
    `id ${ID_TYPE} NOT NULL PRIMARY KEY`,
    'payload TEXT NOT NULL',
    'expires_at BIGINT UNSIGNED NULL',
    'consumed_at BIGINT UNSIGNED NULL',
    ...lookups.map((lookup) => `${lookup} ${ID_TYPE} NULL`),
    ...['expires_at', ...lookups].map((column) => `INDEX (${column})`),
  ].join(', ')})`;
}

/** Ids are case-sensitive. */
const ID_TYPE = 'VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

function nameOf(model: string): string {
  return `oidc${model.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
}

function lookupsOf(model: string): readonly Lookup[] {
  const lookups = MODELS[model];
  if (!lookups) throw new Error(`There is no table for ${model}.`);
  return lookups;
}
