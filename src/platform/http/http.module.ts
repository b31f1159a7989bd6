import { Global, Module } from '@nestjs/common';
import { Admission } from './server/bulkhead.js';
import { AllowedMethods, UnroutedRequests } from './server/unrouted-requests.js';

/** What knows the routes of this application, answers where none is, and how much is worked on at once. */
@Global()
@Module({
  providers: [Admission, AllowedMethods, UnroutedRequests],
  exports: [Admission, AllowedMethods],
})
export class HttpModule {}
