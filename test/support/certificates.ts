import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Paths of a certificate and its private key, both in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** Creates a certificate authority, which signs certificates, with OpenSSL. */
export class CertificateAuthority implements Certificate {
  private constructor(
    private readonly folder: string,
    readonly name: string,
  ) {}

  static async create(folder: string, name: string): Promise<CertificateAuthority> {
    const authority = new CertificateAuthority(folder, name);
    const { cert, key } = authority;
    await openssl(
      'req',
      '-x509',
      '-subj',
      `/CN=${name}`,
      '-days',
      '2',
      ...newKey(key),
      '-out',
      cert,
    );
    return authority;
  }

  get cert(): string {
    return join(this.folder, `${this.name}.pem`);
  }

  get key(): string {
    return join(this.folder, `${this.name}.key`);
  }

  /**
   * Signs a new certificate.
   * @param names as in `subjectAltName`, such as `DNS:localhost,IP:127.0.0.1`
   * @param days validity from now; a negative number makes an expired certificate
   */
  async sign(
    file: string,
    { names, days = 2 }: { names: string; days?: number },
  ): Promise<Certificate> {
    const path = (extension: string): string => join(this.folder, `${file}.${extension}`);
    const [cert, key, request, extensions] = [path('pem'), path('key'), path('csr'), path('ext')];
    await writeFile(extensions, `subjectAltName=${names}\n`);
    await openssl('req', '-new', '-subj', `/CN=${file}`, ...newKey(key), '-out', request);
    await openssl(
      'x509', '-req', '-in', request, '-CA', this.cert, '-CAkey', this.key, '-CAcreateserial',
      '-days', String(days), '-extfile', extensions, '-out', cert,
    ); // prettier-ignore
    return { cert, key };
  }
}

export function readPem(path: string): Promise<string> {
  return readFile(path, 'utf8');
}

function newKey(path: string): string[] {
  return ['-newkey', 'rsa:2048', '-nodes', '-keyout', path];
}

async function openssl(...parameters: string[]): Promise<void> {
  await run('openssl', parameters);
}
