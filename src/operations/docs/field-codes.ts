import { InvalidRequest, type FieldErrorCode } from '../../common/errors.js';
import { ErrorResponse } from '../../http/error.response.js';
import type { FieldCodeEntry } from '../../pages/views.js';

const MEANINGS: Readonly<Record<FieldErrorCode, string>> = {
  required: 'It is missing, or null.',
  wrong_type: 'It is of another JSON type, or not the whole number that a parameter has to be.',
  unknown_field:
    'The body has no such member. The message lists those that it has, and says which one was probably meant.',
  too_small: 'The number is less than the least that the message names.',
  too_large: 'The number is more than the most that the message names.',
  too_short: 'The text has fewer characters than the message asks for.',
  too_long:
    'The text has more characters than the message allows. Characters are Unicode code points.',
  too_many: 'The list has more items than the message allows.',
  too_deep: 'The body is nested too deeply.',
  blank: 'The text is empty, or holds nothing that can be seen.',
  control_character:
    'The text holds a control character, or a line break or tab where it has to be one line.',
  not_well_formed: 'The text holds half a surrogate pair, or the body is not UTF-8.',
  invalid_format: 'It does not have the form that the message describes.',
  not_allowed_value: 'It is none of the values that the message lists.',
  pair_required: 'It needs another member beside it: send both or neither.',
  one_of_required: 'The body has none of the members of which it needs at least one.',
  invalid_reference: 'It names something that does not exist, or that does not belong there.',
};

/** Every code of `errors[].code`, as the documentation lists them. */
export const fieldCodes: readonly FieldCodeEntry[] = Object.entries(MEANINGS).map(
  ([code, meaning]) => ({ code, meaning }),
);

/** The answer to a post at latitude 91 with a tag of spaces, as JSON. */
export function fieldErrorsExample(publicUrl: string): string {
  const error = InvalidRequest.fields([
    { field: 'tags', code: 'blank', message: 'tags[1] must not be blank.' },
    { field: 'latitude', code: 'too_large', message: 'latitude must be at most 90.' },
  ]);
  const body = ErrorResponse.from(error, 'req_01kahq5f3veqdr8bn3tdmx3q0a', publicUrl);
  return JSON.stringify(body, null, 2);
}
