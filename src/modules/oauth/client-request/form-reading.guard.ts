import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../../../config/app-config.js';
import { readForm } from '../form-body.js';
import { OAuthError } from '../oauth.errors.js';

declare global {
  namespace Express {
    interface Request {
      /** Why the form could not be read, kept until the budgets were asked. */
      formProblem?: unknown;
    }
  }
}

/**
 * Reads the form before the budgets are asked, which are counted by the app that it names; what is wrong with the form is
 * told after, so that broken forms are counted like any other failure. What is not the form's fault is told at once. Nothing of
 * these endpoints is ever cached.
 */
@Injectable()
export class FormReadingGuard implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    try {
      await readForm(request, response, this.config.server.requestTimeoutMs);
    } catch (problem) {
      if (!(problem instanceof OAuthError)) throw problem;
      request.formProblem = problem;
      request.body = {};
    }
    return true;
  }
}
