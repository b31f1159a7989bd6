import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../../../platform/config/app-config.js';
import { readForm } from './form-body.js';
import { OAuthError } from './oauth.errors.js';

/** Reads the form of a page. It is a guard, not middleware, so that the exception filter of the controller handles its errors. */
@Injectable()
export class PageFormGuard implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [request, response] = context.getArgs<[Request, Response]>();
    await readForm(request, response, this.config.server.requestTimeoutMs);
    return true;
  }
}

declare module '../../../platform/request-context.js' {
  interface RequestContext {
    /** Why the form could not be read. `ClientGuard` throws it, unless the URL contains a client secret. */
    formError?: unknown;
  }
}

/** Reads the form of a client and forbids caching. `ClientGuard` throws the errors, so that malformed forms count as failed attempts. */
@Injectable()
export class ClientFormGuard implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [request, response] = context.getArgs<[Request, Response]>();
    response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    try {
      await readForm(request, response, this.config.server.requestTimeoutMs);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      request.context.formError = error;
      request.body = {};
    }
    return true;
  }
}
