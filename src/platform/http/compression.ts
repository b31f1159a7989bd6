import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Response } from 'express';

/** The content codings of public files (RFC 9110 §8.4.1), the smallest first, with the suffix of a compressed file. */
export const CODINGS = { br: '.br', gzip: '.gz' } as const;

export type Coding = keyof typeof CODINGS;

/** Functions that compress as much as they can, because the result is sent many times. */
export const COMPRESS: Readonly<Record<Coding, (content: Buffer) => Promise<Buffer>>> = {
  br: promisify(brotliCompress),
  gzip: (content) => promisify(gzip)(content, { level: 9 }),
};

/**
 * The content coding for the client (RFC 9110 §12.5.3), and the headers that belong to it. Undefined if the client prefers or only accepts
 * the content as it is.
 */
export function negotiateCoding(response: Response): Coding | undefined {
  response.vary('Accept-Encoding');
  const coding = (Object.keys(CODINGS) as Coding[]).find(
    (one) => response.req.acceptsEncodings([one, 'identity']) === one,
  );
  if (coding !== undefined) response.set('Content-Encoding', coding);
  return coding;
}

/**
 * A public text, which is compressed once for all clients. Express derives the entity tag from the bytes that it sends, so each coding has
 * its own (RFC 9110 §8.8.1).
 */
export class PublicText {
  private readonly compressed = new Map<Coding, Promise<Buffer>>();

  constructor(readonly text: string) {}

  /** Sends the text. The type is that which the response has already. */
  async send(response: Response): Promise<void> {
    const coding = negotiateCoding(response);
    response.send(coding === undefined ? this.text : await this.in(coding));
  }

  private in(coding: Coding): Promise<Buffer> {
    const known = this.compressed.get(coding);
    if (known) return known;
    const result = COMPRESS[coding](Buffer.from(this.text));
    this.compressed.set(coding, result);
    return result;
  }
}
