import { randomBytes } from 'node:crypto';
import { TypeID } from 'typeid-js';

/** What stands before the underscore of an id (source document, sections 1 and 2). */
export type IdPrefix =
  'usr' | 'post' | 'cmt' | 'svc_app' | 'sec' | 'txn' | 'otp' | 'grt' | 'req' | 'call' | 'evt';

const SUFFIX = '[0-7][0-9a-hjkmnp-tv-z]{25}';

/**
 * A new TypeID: the prefix and 26 characters of a UUID version 7 made at `now`, so ids sort by time.
 * @see https://github.com/jetify-com/typeid/tree/main/spec
 */
export function newId(prefix: IdPrefix, now: Date): string {
  const bytes = random16();
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
}

/** Asking the system for so few bytes costs more than the rest of an id: it is asked for many at once, and each is used once. */
let random = Buffer.alloc(0);
function random16(): Buffer {
  if (random.length === 0) random = randomBytes(16 * 256);
  const bytes = random.subarray(0, 16);
  random = random.subarray(16);
  return bytes;
}

/** The pattern of ids with this prefix, anchored: for validation and for the published document. */
export function idPattern(prefix: IdPrefix): RegExp {
  return new RegExp(`^${prefix}_${SUFFIX}$`);
}

/** Whether `value` could be an id with this prefix. Nothing else reaches SQL. */
export function isId(prefix: IdPrefix, value: unknown): value is string {
  return typeof value === 'string' && idPattern(prefix).test(value);
}
