import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';
import { PageQuery } from '../../paging/page.query.js';

export class ListPostsQuery extends PageQuery {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(50)
  limit = 20;
}
