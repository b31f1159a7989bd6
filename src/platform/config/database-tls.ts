import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { SslOptions } from 'mysql2';
import { reasonOf } from '../permission-model.js';
import type { Env } from './env.js';

type TlsFile = 'DATABASE_SSL_CA' | 'DATABASE_SSL_CERT' | 'DATABASE_SSL_KEY';

/**
 * The TLS options of all database connections, or undefined for plain text. Without a CA of its own, the service trusts the CAs
 * of Node.js.
 * @throws Error with the name of the variable and the problem
 */
export function databaseTls(env: Env): SslOptions | undefined {
  const mode = env.DATABASE_SSL;
  const files = (['DATABASE_SSL_CA', 'DATABASE_SSL_CERT', 'DATABASE_SSL_KEY'] as const).filter(
    (name) => env[name] !== undefined,
  );
  if (mode === 'off') {
    if (files.length > 0)
      throw new Error(`${files.join(', ')}: only applies with TLS; set DATABASE_SSL=verify-full`);
    return undefined;
  }
  if (env.DATABASE_URL.engine === 'sqlite')
    throw new Error('DATABASE_SSL: only applies to a server; DATABASE_URL names a SQLite file');
  if (mode === 'required' && env.DATABASE_SSL_CA !== undefined)
    throw new Error(
      'DATABASE_SSL_CA: only applies with DATABASE_SSL=verify-ca or verify-full; required checks no certificate',
    );
  if ((env.DATABASE_SSL_CERT === undefined) !== (env.DATABASE_SSL_KEY === undefined))
    throw new Error('DATABASE_SSL_CERT, DATABASE_SSL_KEY: must be set together');
  const options = {
    rejectUnauthorized: mode !== 'required',
    verifyIdentity: mode === 'verify-full',
    ca: readPem('DATABASE_SSL_CA', env),
    cert: readPem('DATABASE_SSL_CERT', env),
    key: readPem('DATABASE_SSL_KEY', env),
  };
  try {
    createSecureContext(options);
  } catch (error) {
    throw new Error(
      `DATABASE_SSL_CERT, DATABASE_SSL_KEY: are not a certificate and its key: ${(error as Error).message}`,
      { cause: error },
    );
  }
  return options;
}

/** Reads a PEM text, which is the value itself or the content of the file that it names. */
function readPem(name: TlsFile, env: Env): string | undefined {
  const value = env[name];
  if (value === undefined) return undefined;
  const pem = value.includes('-----BEGIN ') ? value.replaceAll('\\n', '\n') : readFile(name, value);
  if (name === 'DATABASE_SSL_KEY') return pem;
  try {
    // `createSecureContext` ignores a CA that is not a certificate.
    void new X509Certificate(pem);
  } catch {
    throw new Error(`${name}: must be a PEM certificate, or the path of one`);
  }
  return pem;
}

/** @throws Error with the name of the variable and the reason */
export function readFile(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${name}: the file ${path} cannot be read: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}
