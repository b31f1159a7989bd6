import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { endedRequest } from './ended-request.js';
import { RequestLog } from './request-log.js';
import { RequestMetrics } from './request-metrics.js';

/** Sees every request that has an id to its end, whoever answers it. */
@Injectable()
export class RequestWatch {
  constructor(
    private readonly log: RequestLog,
    private readonly metrics: RequestMetrics,
  ) {}

  /** Middleware. Time is taken by a stopwatch, which nobody sets back. */
  readonly watch = (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = performance.now();
    this.metrics.begin();
    response.once('close', () => {
      const ended = endedRequest(request, response, performance.now() - startedAt);
      this.metrics.end(ended);
      this.log.write(ended);
    });
    next();
  };
}
