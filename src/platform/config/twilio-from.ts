/** As in the API of Twilio. A name such as `MGBank` is an alphanumeric sender. */
const MESSAGING_SERVICE = /^MG[0-9a-f]{32}$/i;
const PHONE_NUMBER = /^\+[1-9]\d{6,14}$/;
const SHORT_CODE = /^\d{3,8}$/;
/** At most 11 letters, digits, spaces, and a few signs; at least one letter. */
const ALPHANUMERIC = /^(?=.*[a-z])[a-z\d +_&-]{1,11}$/i;

export function isMessagingService(from: string): boolean {
  return MESSAGING_SERVICE.test(from);
}

/** Whether the sender is a name, which networks in some countries, such as the United States and Canada, do not support. */
export function isAlphanumericSender(from: string): boolean {
  return ALPHANUMERIC.test(from);
}

/** @throws Error with a message that follows the name of the variable */
export function parseTwilioFrom(from: string): string {
  if ([MESSAGING_SERVICE, PHONE_NUMBER, SHORT_CODE, ALPHANUMERIC].some((form) => form.test(from)))
    return from;
  throw new Error(
    'must be a number such as +14155550100, a short code, a name of at most 11 letters and digits, or a messaging service: MG and 32 hexadecimal digits',
  );
}
