import { Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { DEV_V1 } from '../../http/routes.js';
import { CallLogMiddleware } from './call-log.middleware.js';
import { CallLog } from './call-log.service.js';
import { CallsRepository } from './calls.repository.js';
import { QuotaController } from './quota.controller.js';
import { QuotaRepository } from './quota.repository.js';
import { QuotaService } from './quota.service.js';

@Module({
  controllers: [QuotaController],
  providers: [QuotaRepository, QuotaService, CallsRepository, CallLog],
  exports: [QuotaService, CallLog],
})
export class QuotaModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(CallLogMiddleware).forRoutes(`${DEV_V1}/*path`);
  }
}
