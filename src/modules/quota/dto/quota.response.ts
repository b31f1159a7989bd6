import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { QuotaStanding } from '../quota.service.js';

@ApiSchema({ name: 'Quota', description: 'What the app may still publish in this calendar month.' })
export class QuotaResponse {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    minimum: 0,
    description: 'Posts per month; null is unlimited.',
    example: 100,
  })
  limit: number | null;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'Posts published.', example: 13 })
  used: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    minimum: 0,
    description: 'Posts left; null is unlimited.',
    example: 87,
  })
  remaining: number | null;

  @ApiProperty({
    pattern: String.raw`^\d{4}-(0[1-9]|1[0-2])$`,
    description: 'The calendar month, in UTC.',
    example: '2026-11',
  })
  period: string;

  @ApiProperty({
    format: 'date-time',
    description: 'When the next month begins; UTC, with milliseconds.',
    example: '2026-12-01T00:00:00.000Z',
  })
  resetsAt: string;

  static from({ limit, used, remaining, period, resetsAt }: QuotaStanding): QuotaResponse {
    return { limit, used, remaining, period, resetsAt: resetsAt.toISOString() };
  }
}
