import { Logger } from '@nestjs/common';
import type { RequestHandler } from 'express';

/** Notes requests whose client left before its answer had. That is nobody's fault here, so it is no error. */
export function noteAborted(): RequestHandler {
  const logger = new Logger('Requests');
  return (request, response, next) => {
    response.once('close', () => {
      if (!response.writableFinished) logger.log(`${request.requestId} request aborted`);
    });
    next();
  };
}
