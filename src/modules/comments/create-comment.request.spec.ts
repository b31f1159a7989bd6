import { violationsOf } from '../../../test/support/field-errors.js';
import { RequestPipe } from '../../platform/http/validation/request.pipe.js';
import { CreateCommentRequest } from './create-comment.request.js';

const EMOJI = '\u{1f600}';

async function validate(body: unknown): Promise<CreateCommentRequest> {
  const metadata = { type: 'body', metatype: CreateCommentRequest } as const;
  return (await new RequestPipe().transform(body, metadata)) as CreateCommentRequest;
}

describe('CreateCommentRequest', () => {
  it.each([
    'x',
    'x'.repeat(2000),
    EMOJI.repeat(2000),
    ' kept as sent ',
    'a\n\tb\r\nc',
    "' OR 1=1 -- \\' <script>",
    '\u{1f468}\u200d\u{1f469}\u200d\u{1f467} e\u0301 \u05e9\u05dc\u05d5\u05dd',
  ])('C80 accepts the text %j unchanged', async (text) => {
    expect(await validate({ text })).toMatchObject({ text });
  });

  it.each([
    [{}, 'required'],
    [{ text: null }, 'required'],
    [{ text: '' }, 'blank'],
    [{ text: ' \n' }, 'blank'],
    [{ text: '\u200b' }, 'blank'],
    [{ text: 1 }, 'wrong_type'],
    [{ text: ['a'] }, 'wrong_type'],
    [{ text: {} }, 'wrong_type'],
    [{ text: 'x'.repeat(2001) }, 'too_long'],
    [{ text: EMOJI.repeat(2001) }, 'too_long'],
    [{ text: 'a\u0000' }, 'control_character'],
    [{ text: '\ud800' }, 'not_well_formed'],
  ])('C80 rejects %j: %s', async (body, code) => {
    expect(await violationsOf(validate(body))).toEqual([`text ${code}`]);
  });

  it.each([1, true, [], {}, ['x']])('C81 rejects %j as parentId: wrong type', async (parentId) => {
    expect(await violationsOf(validate({ text: 'a', parentId }))).toEqual(['parentId wrong_type']);
  });
});
