import { Injectable, type PipeTransform } from '@nestjs/common';
import { NotFound } from '../common/errors.js';
import { isId, type IdPrefix } from '../common/ids.js';

/** Lets an id of the path through only in its pattern; anything else is as absent as an id that nobody has. */
@Injectable()
export class IdPipe implements PipeTransform<string, string> {
  constructor(
    private readonly prefix: IdPrefix,
    private readonly notFound: () => NotFound,
  ) {}

  transform(value: string): string {
    if (!isId(this.prefix, value)) throw this.notFound();
    return value;
  }
}
