import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { QuotaUsage } from './quota-usage.entity.js';
import { QuotaService } from './quota.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([QuotaUsage])],
  providers: [QuotaService],
  exports: [QuotaService],
})
export class QuotaModule {}
