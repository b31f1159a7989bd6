import { Controller, Get, Header, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../access/scopes.decorator.js';
import { AlwaysServed } from '../http/server/bulkhead.js';
import { Readiness } from './health.js';

const RETRY_SECONDS = '5';

/** Liveness and readiness probes. */
@Public()
@AlwaysServed()
@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('livez')
  @Header('Cache-Control', 'no-store')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** 503 while the database is unavailable or not migrated, the clocks differ, or the service shuts down. */
  @Get('readyz')
  @Header('Cache-Control', 'no-store')
  async ready(
    @Res({ passthrough: true }) response: Response,
  ): Promise<{ status: 'ok' | 'not ready'; reason?: string }> {
    const reason = await this.readiness.problem();
    if (reason === undefined) return { status: 'ok' };
    response.status(503).set('Retry-After', RETRY_SECONDS);
    return { status: 'not ready', reason };
  }
}
