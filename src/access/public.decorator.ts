import { SetMetadata } from '@nestjs/common';

export const PUBLIC = 'access:public';

/** A route that needs no access token. Every other route must declare its scope. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(PUBLIC, true);
