import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../../config/app-config.js';
import { readForm } from './form-body.js';

/** Reads the form of a page. A guard rather than middleware, so that its errors go through the controller's own filter. */
@Injectable()
export class FormBodyGuard implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { requestTimeoutMs } = this.config.server;
    await readForm(http.getRequest<Request>(), http.getResponse<Response>(), requestTimeoutMs);
    return true;
  }
}
