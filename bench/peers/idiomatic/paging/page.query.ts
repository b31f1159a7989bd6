import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';

export const MAX_PAGE = 1_000_000;

/** The requested page. Each list has its own maximum of `limit`. */
export abstract class PageQuery {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(MAX_PAGE)
  page = 1;

  abstract limit: number;
}
