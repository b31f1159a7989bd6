import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Admission } from '../../http/admission.js';
import { HealthController } from '../health/health.controller.js';

/** Refuses what is too much, each route in its own shape. Whether the service is alive and ready may always be asked. */
@Injectable()
export class AdmissionGuard implements CanActivate {
  constructor(private readonly admission: Admission) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    if (context.getClass() === HealthController) return true;
    const http = context.switchToHttp();
    return this.admission.admit(http.getRequest<Request>(), http.getResponse<Response>());
  }
}
