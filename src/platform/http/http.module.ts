import { Global, Module } from '@nestjs/common';
import { Bulkhead } from './server/bulkhead.js';
import { AllowedMethods, UnroutedRequests } from './server/unrouted-requests.js';

@Global()
@Module({
  providers: [Bulkhead, AllowedMethods, UnroutedRequests],
  exports: [Bulkhead, AllowedMethods],
})
export class HttpModule {}
