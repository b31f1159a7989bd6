import { Global, Module } from '@nestjs/common';
import { AllowedMethods } from './allowed-methods.js';
import { UnroutedRequests } from './unrouted-requests.js';

/** What knows the routes of this application, and answers where none is. */
@Global()
@Module({ providers: [AllowedMethods, UnroutedRequests], exports: [AllowedMethods] })
export class HttpModule {}
