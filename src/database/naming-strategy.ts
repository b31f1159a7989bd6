import { DefaultNamingStrategy } from 'typeorm';

/** Columns are the snake_case of their property: `createdAt` is `created_at`. Tables and indexes are named where they stand. */
export class SnakeCaseColumns extends DefaultNamingStrategy {
  override columnName(propertyName: string, customName: string | undefined): string {
    return customName ?? propertyName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }
}
