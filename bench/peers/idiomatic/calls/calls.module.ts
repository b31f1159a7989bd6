import { Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiCall } from './api-call.entity.js';
import { CallLogMiddleware } from './call-log.middleware.js';
import { CallsService } from './calls.service.js';

@Module({ imports: [TypeOrmModule.forFeature([ApiCall])], providers: [CallsService] })
export class CallsModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(CallLogMiddleware).forRoutes('*path');
  }
}
