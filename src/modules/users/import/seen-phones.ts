const FIRST_SIZE = 1024;
/** Beyond this part of its places, a table of this kind becomes slow. */
const MOST_FILLED = 0.6;
/** Knuth's multiplier for hashing by multiplication, 2^32 divided by the golden ratio. */
const MULTIPLIER = 2_654_435_761;

/**
 * The phones of a file and the lines that they stand on, at about 25 bytes each where a Map would take a hundred: a hash table
 * with open addressing over numbers, which the 15 digits of a phone fit into.
 */
export class SeenPhones {
  private phones = new Float64Array(FIRST_SIZE);
  private lines = new Uint32Array(FIRST_SIZE);
  private count = 0;

  /** Notes a phone (E.164). Answers the line that had it before, or undefined when none had. */
  note(phone: string, line: number): number | undefined {
    const digits = Number(phone.slice(1));
    const place = this.placeOf(digits);
    if (this.phones[place] === digits) return this.lines[place];
    this.phones[place] = digits;
    this.lines[place] = line;
    this.count += 1;
    if (this.count > this.phones.length * MOST_FILLED) this.grow();
    return undefined;
  }

  /** Where the phone is, or the free place where it belongs. No phone is 0. */
  private placeOf(digits: number): number {
    const last = this.phones.length - 1;
    const high = Math.floor(digits / 2 ** 32);
    let place = (Math.imul(digits ^ high, MULTIPLIER) >>> 7) & last;
    while (this.phones[place] !== 0 && this.phones[place] !== digits) place = (place + 1) & last;
    return place;
  }

  private grow(): void {
    const { phones, lines } = this;
    this.phones = new Float64Array(phones.length * 2);
    this.lines = new Uint32Array(phones.length * 2);
    phones.forEach((digits, from) => {
      if (digits === 0) return;
      const place = this.placeOf(digits);
      this.phones[place] = digits;
      this.lines[place] = lines[from] ?? 0;
    });
  }
}
