import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import { isValid, type AccessRow } from '../responses.js';
import { FIND_ACCESS } from '../statements.js';

/** The user, app and grant of the access token. */
export interface Access {
  userId: string;
  clientId: string;
  grantId: string;
  /** Per month; null is unlimited. */
  postLimit: number | null;
}

declare global {
  namespace Express {
    interface Request {
      access: Access;
      receivedAt: Date;
      requestId: string;
    }
  }
}

export class HttpError extends Error {
  constructor(
    readonly status: number,
    code: string,
  ) {
    super(code);
  }
}

export function authenticate(pool: Pool, scope: string): RequestHandler {
  return async (request, _response, next) => {
    const token = /^Bearer (.+)$/i.exec(request.get('authorization') ?? '')?.[1];
    if (token === undefined) throw new HttpError(401, 'unauthorized');
    const hash = createHash('sha256').update(token).digest('hex');
    const [[access]] = await pool.execute<(RowDataPacket & AccessRow)[]>(FIND_ACCESS, [hash]);
    if (!isValid(access)) throw new HttpError(401, 'invalid_token');
    if (!access.scope.split(' ').includes(scope)) throw new HttpError(403, 'insufficient_scope');
    request.access = {
      userId: access.user_id,
      clientId: access.client_id,
      grantId: access.grant_id,
      postLimit: access.monthly_post_limit,
    };
    next();
  };
}
