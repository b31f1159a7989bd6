import { pooledRandomBytes } from './secrets.js';

/** Prefixes of ids (product requirements, sections 1 and 2). A client id has one of `svc_app` and `svc_app_test`. */
export type IdPrefix =
  | 'usr'
  | 'post'
  | 'cmt'
  | 'svc_app'
  | 'svc_app_test'
  | 'sec'
  | 'txn'
  | 'grt'
  | 'req'
  | 'call'
  | 'evt'
  | 'msg';

/** Size of the timestamp of a UUID version 7. The timestamp is in milliseconds since 1970. */
const TIME_BYTES = 6;
const SUFFIX = '[0-7][0-9a-hjkmnp-tv-z]{25}';
const TYPE_ID = new RegExp(`^[a-z_]+_(${SUFFIX})$`);
/** Crockford's alphabet, in lower case. */
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

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
  return `${prefix}_${base32(bytes)}`;
}

/** The 128 bits of a UUID after two zero bits, as 26 characters of 5 bits each. */
function base32(uuid: Uint8Array): string {
  let text = '';
  let bits = 0;
  let unread = 2;
  for (const byte of uuid) {
    // Of the earlier bits, at most four are unread.
    bits = ((bits & 0b1111) << 8) | byte;
    for (unread += 8; unread >= 5; unread -= 5)
      text += BASE32.charAt((bits >> (unread - 5)) & 0b11111);
  }
  return text;
}

/** The lowest possible id of this time. All ids of the prefix from this time on sort after it. */
export function firstIdAt(prefix: IdPrefix, time: Date): string {
  const bytes = new Uint8Array(16);
  const milliseconds = Buffer.alloc(TIME_BYTES);
  milliseconds.writeUIntBE(Math.max(0, time.getTime()), 0, TIME_BYTES);
  bytes.set(milliseconds);
  return `${prefix}_${base32(bytes)}`;
}

/** The creation time of an id. @throws if it is not a TypeID */
export function timeOf(id: string): Date {
  const [, suffix] = TYPE_ID.exec(id) ?? [];
  if (suffix === undefined) throw new Error(`${id} is not a TypeID.`);
  let milliseconds = 0;
  // The first 10 characters are the two zero bits and the 48 bits of the timestamp.
  for (const digit of suffix.slice(0, 10)) milliseconds = milliseconds * 32 + BASE32.indexOf(digit);
  return new Date(milliseconds);
}

/** The anchored pattern of ids with this prefix. That of `svc_app` matches the client ids of test apps, too. */
export function idPattern(prefix: IdPrefix): RegExp {
  const start = prefix === 'svc_app' ? 'svc_app_(?:test_)?' : `${prefix}_`;
  const pattern = patterns.get(prefix) ?? new RegExp(`^${start}${SUFFIX}$`);
  patterns.set(prefix, pattern);
  return pattern;
}

/** Client ids of test apps begin with it, and no others. */
export const TEST_APP_PREFIX: `${IdPrefix}_` = 'svc_app_test_';

const patterns = new Map<IdPrefix, RegExp>();

/** Whether `value` has the format of an id with any prefix. */
export function isAnyId(value: string): boolean {
  return TYPE_ID.test(value);
}

/** Whether `value` has the format of an id with this prefix. */
export function isId(prefix: IdPrefix, value: unknown): value is string {
  return typeof value === 'string' && idPattern(prefix).test(value);
}

/**
 * Whether this is the client id of a test app, for figures and reports. Permissions read the column `apps.test`, which is also
 * set for the apps of a demo that 1.1 created; these keep their ids.
 */
export function isTestApp(clientId: string | undefined): boolean {
  return clientId?.startsWith(TEST_APP_PREFIX) === true;
}
