import { TypeID } from 'typeid-js';
import { pooledRandomBytes } from './secrets.js';

/** Prefixes of ids (product requirements, sections 1 and 2). */
export type IdPrefix =
  'usr' | 'post' | 'cmt' | 'svc_app' | 'sec' | 'txn' | 'grt' | 'req' | 'call' | 'evt';

/** Size of the timestamp of a UUID version 7. The timestamp is in milliseconds since 1970. */
const TIME_BYTES = 6;
const SUFFIX = '[0-7][0-9a-hjkmnp-tv-z]{25}';

/**
 * A new TypeID: the prefix and a UUID version 7 as 26 characters. Ids sort by time.
 * @see https://github.com/jetify-com/typeid/tree/main/spec
 */
export function newId(prefix: IdPrefix, now: Date): string {
  const bytes = pooledRandomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, TIME_BYTES);
  // The version, 7, and the variant (RFC 9562 §4).
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
}

/** The creation time of an id. @throws if it is not a TypeID */
export function timeOf(id: string): Date {
  const bytes = TypeID.fromString(id).toUUIDBytes();
  return new Date(Buffer.from(bytes).readUIntBE(0, TIME_BYTES));
}

/** The anchored pattern of ids with this prefix. */
export function idPattern(prefix: IdPrefix): RegExp {
  const pattern = patterns.get(prefix) ?? new RegExp(`^${prefix}_${SUFFIX}$`);
  patterns.set(prefix, pattern);
  return pattern;
}

const patterns = new Map<IdPrefix, RegExp>();

/** Whether `value` has the format of an id with this prefix. */
export function isId(prefix: IdPrefix, value: unknown): value is string {
  return typeof value === 'string' && idPattern(prefix).test(value);
}
