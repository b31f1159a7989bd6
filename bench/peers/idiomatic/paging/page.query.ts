import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';

export const LAST_PAGE = 1_000_000;

/** Which page of a list is asked for; each list has its own bound for `limit`. */
export abstract class PageQuery {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(LAST_PAGE)
  page = 1;

  abstract limit: number;
}
