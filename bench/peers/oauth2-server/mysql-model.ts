import type {
  AuthorizationCode,
  AuthorizationCodeModel,
  Client,
  Falsey,
  RefreshToken,
  RefreshTokenModel,
  Token,
  User,
} from '@node-oauth/oauth2-server';
import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { hashCredential } from '../../credentials.js';

interface ClientRow extends RowDataPacket {
  redirect_uris: string;
  grants: string;
}

interface CredentialRow extends RowDataPacket {
  client_id: string;
  user_id: string;
  scope: string | null;
  expires_at: Date;
}

interface CodeRow extends CredentialRow {
  redirect_uri: string;
  code_challenge: string | null;
  code_challenge_method: string | null;
}

type CredentialTable =
  'oauth2_authorization_codes' | 'oauth2_access_tokens' | 'oauth2_refresh_tokens';
type NewCode = Parameters<AuthorizationCodeModel['saveAuthorizationCode']>[0];

/** Reads clients, and stores the SHA-256 of codes and tokens. Finds no codes and tokens of users who are not active. */
export class MysqlModel implements AuthorizationCodeModel, RefreshTokenModel {
  constructor(private readonly pool: Pool) {}

  async getClient(id: string): Promise<Client | Falsey> {
    const sql = 'SELECT redirect_uris, grants FROM oauth2_clients WHERE id = ?';
    const [[row]] = await this.pool.execute<ClientRow[]>(sql, [id]);
    return row && { id, redirectUris: row.redirect_uris.split(' '), grants: row.grants.split(' ') };
  }

  async getAuthorizationCode(code: string): Promise<AuthorizationCode | Falsey> {
    const row = await this.find<CodeRow>('oauth2_authorization_codes', code);
    return (
      row && {
        ...ownerOf(row),
        authorizationCode: code,
        expiresAt: row.expires_at,
        redirectUri: row.redirect_uri,
        codeChallenge: row.code_challenge ?? undefined,
        codeChallengeMethod: row.code_challenge_method ?? undefined,
      }
    );
  }

  async saveAuthorizationCode(
    code: NewCode,
    client: Client,
    user: User,
  ): Promise<AuthorizationCode> {
    const sql = `INSERT INTO oauth2_authorization_codes
      (hash, client_id, user_id, scope, expires_at, redirect_uri, code_challenge, code_challenge_method)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
    await this.pool.execute(sql, [
      ...credentialValues(code.authorizationCode, client, user, code.scope, code.expiresAt),
      code.redirectUri,
      code.codeChallenge ?? null,
      code.codeChallengeMethod ?? null,
    ]);
    return { ...code, client, user };
  }

  revokeAuthorizationCode({ authorizationCode }: AuthorizationCode): Promise<boolean> {
    return this.delete('oauth2_authorization_codes', authorizationCode);
  }

  async getAccessToken(accessToken: string): Promise<Token | Falsey> {
    const row = await this.find('oauth2_access_tokens', accessToken);
    return row && { ...ownerOf(row), accessToken, accessTokenExpiresAt: row.expires_at };
  }

  async getRefreshToken(refreshToken: string): Promise<RefreshToken | Falsey> {
    const row = await this.find('oauth2_refresh_tokens', refreshToken);
    return row && { ...ownerOf(row), refreshToken, refreshTokenExpiresAt: row.expires_at };
  }

  async saveToken(token: Token, client: Client, user: User): Promise<Token> {
    const { accessToken, accessTokenExpiresAt, refreshToken, refreshTokenExpiresAt, scope } = token;
    const save = (table: CredentialTable, value: string | undefined, expiresAt: Date | undefined) =>
      value &&
      expiresAt &&
      this.insert(table, credentialValues(value, client, user, scope, expiresAt));
    await Promise.all([
      save('oauth2_access_tokens', accessToken, accessTokenExpiresAt),
      save('oauth2_refresh_tokens', refreshToken, refreshTokenExpiresAt),
    ]);
    return { ...token, client, user };
  }

  revokeToken({ refreshToken }: RefreshToken): Promise<boolean> {
    return this.delete('oauth2_refresh_tokens', refreshToken);
  }

  private async find<Row extends CredentialRow>(
    table: CredentialTable,
    credential: string,
  ): Promise<Row | undefined> {
    const sql = `SELECT stored.* FROM ${table} stored
      JOIN users ON users.id = stored.user_id AND users.status = 'active' WHERE stored.hash = ?`;
    const [[row]] = await this.pool.execute<Row[]>(sql, [hashCredential(credential)]);
    return row;
  }

  private async insert(
    table: CredentialTable,
    values: ReturnType<typeof credentialValues>,
  ): Promise<void> {
    const sql = `INSERT INTO ${table} (hash, client_id, user_id, scope, expires_at) VALUES (?, ?, ?, ?, ?)`;
    await this.pool.execute(sql, values);
  }

  /** @returns false if the row was already deleted, so that only one of two concurrent requests succeeds. */
  private async delete(table: CredentialTable, credential: string): Promise<boolean> {
    const sql = `DELETE FROM ${table} WHERE hash = ?`;
    const [{ affectedRows }] = await this.pool.execute<ResultSetHeader>(sql, [
      hashCredential(credential),
    ]);
    return affectedRows === 1;
  }
}

/** The values of the columns that all three credential tables have. */
function credentialValues(
  credential: string,
  client: Client,
  user: User,
  scope: string[] | undefined,
  expiresAt: Date,
) {
  return [
    hashCredential(credential),
    client.id,
    user.id as string,
    scope?.join(' ') ?? null,
    expiresAt,
  ];
}

function ownerOf({ client_id, user_id, scope }: CredentialRow) {
  return { client: { id: client_id, grants: [] }, user: { id: user_id }, scope: scope?.split(' ') };
}
