import { Reflector } from '@nestjs/core';

/** The scope that a route needs. */
export const Scopes = Reflector.createDecorator<string>();
