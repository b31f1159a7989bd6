/** An error as Node has it where an operation of the network took too long. */
export function timedOut(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}
