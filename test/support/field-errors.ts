import { type FieldError, InvalidRequest } from '../../src/platform/errors.js';

/** The error of a validation that must fail. */
export async function rejectionOf(validation: Promise<unknown>): Promise<InvalidRequest> {
  const error = await validation.catch((thrown: unknown) => thrown);
  if (!(error instanceof InvalidRequest)) throw new Error('The validation did not fail.');
  return error;
}

export async function fieldErrorsOf(validation: Promise<unknown>): Promise<readonly FieldError[]> {
  return (await rejectionOf(validation)).extras.errors ?? [];
}

/** Each error as `field code`, or only `code` where it concerns the whole body. */
export async function violationsOf(validation: Promise<unknown>): Promise<string[]> {
  return (await fieldErrorsOf(validation)).map(({ field, code }) => `${field} ${code}`.trim());
}
