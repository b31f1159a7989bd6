import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';
import { PageQuery } from '../../paging/page.query.js';

export class ListCommentsQuery extends PageQuery {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 20;
}
