import { All, Controller, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../../access/public.decorator.js';
import { UnknownEndpoint } from './oauth.errors.js';
import { OAuthErrorFilter } from './token/oauth-error.filter.js';

/** Answers whatever else is asked for under `/oauth` in the shape of RFC 6749. Listed last among the controllers. */
@Public()
@ApiExcludeController()
@UseFilters(OAuthErrorFilter)
@Controller('oauth')
export class UnknownEndpointController {
  @All('*path')
  unknown(): never {
    throw new UnknownEndpoint();
  }
}
