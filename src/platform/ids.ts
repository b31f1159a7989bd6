import { TypeID } from 'typeid-js';
import { pooledRandomBytes } from './secrets.js';

/** Prefixes of ids (source document, sections 1 and 2). */
export type IdPrefix =
  'usr' | 'post' | 'cmt' | 'svc_app' | 'sec' | 'txn' | 'otp' | 'grt' | 'req' | 'call' | 'evt';

/** Of a UUID, in milliseconds since 1970. */
const TIME_BYTES = 6;
const SUFFIX = '[0-7][0-9a-hjkmnp-tv-z]{25}';

/**
 * A new TypeID: the prefix and 26 characters of a UUID version 7 made at `now`, so ids sort by time.
 * @see https://github.com/jetify-com/typeid/tree/main/spec
 */
export function newId(prefix: IdPrefix, now: Date): string {
  const bytes = pooledRandomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, TIME_BYTES);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
}

/** When an id was made. @throws when it is none */
export function timeOf(id: string): Date {
  const bytes = TypeID.fromString(id).toUUIDBytes();
  return new Date(Buffer.from(bytes).readUIntBE(0, TIME_BYTES));
}

/** The pattern of ids with this prefix, anchored: for validation and for the published document. */
export function idPattern(prefix: IdPrefix): RegExp {
  const pattern = patterns.get(prefix) ?? new RegExp(`^${prefix}_${SUFFIX}$`);
  patterns.set(prefix, pattern);
  return pattern;
}

const patterns = new Map<IdPrefix, RegExp>();

/** Whether `value` could be an id with this prefix. Nothing else reaches SQL. */
export function isId(prefix: IdPrefix, value: unknown): value is string {
  return typeof value === 'string' && idPattern(prefix).test(value);
}
