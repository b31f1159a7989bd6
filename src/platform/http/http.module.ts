import { Global, Module } from '@nestjs/common';
import { CallLimitStorage } from './call-limit-storage.js';
import { Bulkhead } from './server/bulkhead.js';
import { AllowedMethods, UnroutedRequests } from './server/unrouted-requests.js';

@Global()
@Module({
  providers: [Bulkhead, AllowedMethods, UnroutedRequests, CallLimitStorage],
  exports: [Bulkhead, AllowedMethods, CallLimitStorage],
})
export class HttpModule {}
