import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { AllowedMethods } from './allowed-methods.js';
import { MethodNotAllowed, UnknownPath } from './http-error.js';

/** Answers whatever no route took, before anybody is asked for a token: 404, or 405 where another method would do. */
@Injectable()
export class UnroutedRequests implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly allowed: AllowedMethods,
  ) {}

  /** When this is called, every route of the application is there. A command serves none. */
  onModuleInit(): void {
    const server = this.host.httpAdapter as AbstractHttpAdapter | null;
    server?.use((request: Request, response: Response, next: NextFunction) => {
      this.answer(request, response, next);
    });
  }

  /** OPTIONS tells what a resource takes (RFC 9110 §9.3.7). */
  private answer({ method, path }: Request, response: Response, next: NextFunction): void {
    const allow = this.allowed.of(path);
    if (allow === undefined) next(new UnknownPath());
    else if (method !== 'OPTIONS') next(new MethodNotAllowed(allow));
    else response.status(204).set('Allow', allow).end();
  }
}
