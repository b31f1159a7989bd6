import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ServiceUnavailable } from '../../common/errors.js';
import { HealthController } from '../health/health.controller.js';
import { Shutdown } from './shutdown.js';

/** Another process answers by then. */
const RETRY_SECONDS = 1;

/** Refuses what comes when the service ends, each route in its own shape. Its health may be asked for to the end. */
@Injectable()
export class ShutdownGuard implements CanActivate {
  constructor(private readonly shutdown: Shutdown) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.shutdown.isRefusing && context.getClass() !== HealthController)
      throw new ServiceUnavailable(RETRY_SECONDS);
    return true;
  }
}
