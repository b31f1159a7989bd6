import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsNumber,
  IsOptional,
  IsString,
  IsUrl,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';

const VISIBLE = /\S/;

export class CreatePostDto {
  @IsOptional()
  @IsString()
  @Length(1, 300)
  @Matches(VISIBLE)
  title?: string | null;

  @ValidateIf((post: CreatePostDto) => isSent(post.content) || isEmpty(post))
  @IsString()
  @Length(1, 10_000)
  @Matches(VISIBLE)
  content?: string | null;

  @IsOptional()
  @Matches(/^[a-z][a-z0-9_-]{0,31}$/)
  type?: string | null;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(10)
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true }, { each: true })
  @MaxLength(2048, { each: true })
  images?: string[] | null;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(20)
  @IsString({ each: true })
  @Length(1, 50, { each: true })
  tags?: string[] | null;

  @ValidateIf(isPlaced)
  @IsNumber()
  @Min(-90)
  @Max(90)
  latitude?: number | null;

  @ValidateIf(isPlaced)
  @IsNumber()
  @Min(-180)
  @Max(180)
  longitude?: number | null;

  @IsOptional()
  @IsNumber()
  @Min(0.001)
  @Max(100)
  reachKm?: number | null;

  @IsOptional()
  @IsIn(['public', 'neighborhood', 'private'])
  visibility?: string | null;
}

/** Without a title and images, the content is required. */
function isEmpty({ title, images }: CreatePostDto): boolean {
  return !isSent(title) && !isSent(images);
}

function isPlaced({ latitude, longitude }: CreatePostDto): boolean {
  return isSent(latitude) || isSent(longitude);
}

function isSent(value: unknown): boolean {
  return value !== null && value !== undefined;
}
