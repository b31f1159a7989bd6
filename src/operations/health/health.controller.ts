import { Controller, Get, Header, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../../access/public.decorator.js';
import { Migrator } from '../../database/migrator.js';

/** For whoever runs the service: is the process alive, and may it get traffic? */
@Public()
@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(private readonly migrator: Migrator) {}

  @Get('livez')
  @Header('Cache-Control', 'no-store')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** 503 while the database is away or its schema is behind. */
  @Get('readyz')
  @Header('Cache-Control', 'no-store')
  async ready(
    @Res({ passthrough: true }) response: Response,
  ): Promise<{ status: 'ok' | 'not ready'; reason?: string }> {
    const reason = await this.problem();
    if (reason === undefined) return { status: 'ok' };
    response.status(503);
    return { status: 'not ready', reason };
  }

  private async problem(): Promise<string | undefined> {
    try {
      return (await this.migrator.isCurrent()) ? undefined : 'migrations are pending';
    } catch {
      return 'the database is away';
    }
  }
}
