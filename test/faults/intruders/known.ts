/** An answer as a stranger gets to know it. */
export interface Known {
  status: number;
  headers: [name: string, value: string][];
  body: string;
}

/** So that two answers can be the same: the id stands in their headers, in the bodies of errors and in entity tags. */
export const SAME_REQUEST = { 'x-request-id': 'one-and-the-same' };

/** All of an answer but its moment. */
export async function known(answer: Response): Promise<Known> {
  return {
    status: answer.status,
    headers: [...answer.headers].filter(([name]) => name !== 'date'),
    body: await answer.text(),
  };
}
