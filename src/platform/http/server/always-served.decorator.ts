import { SetMetadata, type ExecutionContext } from '@nestjs/common';

const ALWAYS_SERVED = 'http:always-served';

/** Serves the routes of this controller even under overload. For health checks. */
export const AlwaysServed = (): ClassDecorator => SetMetadata(ALWAYS_SERVED, true);

export function isAlwaysServed(context: ExecutionContext): boolean {
  return Reflect.getMetadata(ALWAYS_SERVED, context.getClass()) === true;
}
