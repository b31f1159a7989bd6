/** The basic table of GSM 03.38 (3GPP TS 23.038 §6.2.1): one septet for each character. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
/** Its extension (§6.2.1.1): two septets. */
const EXTENSION = new Set('\f^{}\\[~]|€');

/** In septets of GSM 03.38. A segment of a longer message has a header, which takes space. */
const GSM = { single: 160, part: 153 };
/** In UTF-16 code units (UCS-2), for the whole message if one character is not in GSM 03.38. */
const UCS2 = { single: 70, part: 67 };

export interface Cost {
  /** What gateways charge for. */
  segments: number;
  /** The characters that are not in GSM 03.38, each once. They make the whole text more expensive. */
  unicode: string[];
}

/** The number of text messages that a phone joins to this text, and the characters that cost extra. */
export function costOf(text: string): Cost {
  const characters = Array.from(text);
  const unicode = [...new Set(characters.filter((one) => !BASIC.has(one) && !EXTENSION.has(one)))];
  const isGsm = unicode.length === 0;
  const sizes = characters.map((one) => (isGsm ? (EXTENSION.has(one) ? 2 : 1) : one.length));
  const { single, part } = isGsm ? GSM : UCS2;
  if (sizes.reduce((sum, size) => sum + size, 0) <= single) return { segments: 1, unicode };
  let segments = 1;
  let used = 0;
  for (const size of sizes) {
    // A character of two units is not divided.
    if (used + size > part) {
      segments += 1;
      used = 0;
    }
    used += size;
  }
  return { segments, unicode };
}
