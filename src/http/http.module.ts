import { Global, Module } from '@nestjs/common';
import { Admission } from './admission.js';
import { AllowedMethods } from './allowed-methods.js';
import { UnroutedRequests } from './unrouted-requests.js';

/** What knows the routes of this application, answers where none is, and how much is worked on at once. */
@Global()
@Module({
  providers: [Admission, AllowedMethods, UnroutedRequests],
  exports: [Admission, AllowedMethods],
})
export class HttpModule {}
