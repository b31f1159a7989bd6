import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { UsersService } from '../users/users.service.js';
import { EverythingPersonal } from './user-erasure.service.js';

/** Pieces are put together up to this many characters. */
const PIECE = 65_536;

/** Tells everything that is held about a user. */
@Injectable()
export class UserExport {
  constructor(
    private readonly personal: EverythingPersonal,
    private readonly users: UsersService,
    private readonly clock: Clock,
  ) {}

  /**
   * One JSON document, in pieces: a member for each table, with a list of its rows, a row a line. However much it is, little
   * of it is held at once.
   * @throws UnknownUser
   */
  async document(userId: string): Promise<AsyncIterable<string>> {
    const phone = await this.users.phoneOf(userId);
    return inPieces(this.lines({ userId, phone }));
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

async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}
