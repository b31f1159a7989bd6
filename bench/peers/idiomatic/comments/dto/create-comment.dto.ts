import { IsString, Length, Matches } from 'class-validator';

export class CreateCommentDto {
  @IsString()
  @Length(1, 2000)
  @Matches(/\S/)
  text: string;
}
