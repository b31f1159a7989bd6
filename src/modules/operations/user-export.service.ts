import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { UsersService } from '../users/users.service.js';
import { AllPersonalData } from './user-erasure.service.js';

/** Characters. */
const CHUNK_SIZE = 65_536;

@Injectable()
export class UserExport {
  constructor(
    private readonly personal: AllPersonalData,
    private readonly users: UsersService,
    private readonly clock: Clock,
  ) {}

  /** One JSON document in chunks: a member for each table, with one row a line. @throws UnknownUser */
  async document(userId: string): Promise<AsyncIterable<string>> {
    const phone = await this.users.phoneOf(userId);
    return inChunks(this.lines({ userId, phone }));
  }

  private async *lines(person: { userId: string; phone: string }): AsyncGenerator<string> {
    const head = { user_id: person.userId, exported_at: this.clock.now() };
    yield JSON.stringify(head).slice(0, -1);
    for (const { table, rows } of this.personal.held(person)) {
      yield `,\n${JSON.stringify(table)}: [`;
      let separator = '\n  ';
      for await (const row of rows) {
        yield separator + JSON.stringify(row);
        separator = ',\n  ';
      }
      yield ']';
    }
    yield '}\n';
  }
}

async function* inChunks(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = '';
  for await (const text of texts) {
    chunk += text;
    if (chunk.length < CHUNK_SIZE) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}
