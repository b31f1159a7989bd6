import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { AppConfig } from '../../config/app-config.js';
import { ForeignForm } from './page-error.js';

/**
 * Refuses forms that another site sent from the user's browser (RFC 6749 §10.12). Stricter than the framework's check,
 * which compares with the Host header that the request itself brings: ours compares with the configured issuer.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  private readonly origin: string;

  constructor({ publicUrl }: AppConfig) {
    this.origin = new URL(publicUrl).origin;
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const origin = request.get('origin');
    const site = request.get('sec-fetch-site');
    const foreign =
      (origin !== undefined && origin !== this.origin) ||
      site === 'cross-site' ||
      site === 'same-site';
    if (foreign) throw new ForeignForm();
    return true;
  }
}
