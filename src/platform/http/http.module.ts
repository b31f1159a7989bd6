import { Global, Module } from '@nestjs/common';
import { Bulkhead } from './server/bulkhead.js';
import { AllowedMethods, UnroutedRequests } from './server/unrouted-requests.js';

/** What knows the routes of this application, answers where none is, and how much is worked on at once. */
@Global()
@Module({
  providers: [Bulkhead, AllowedMethods, UnroutedRequests],
  exports: [Bulkhead, AllowedMethods],
})
export class HttpModule {}
