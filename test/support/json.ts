/** The answer's body; the type is what the test expects, and its assertions are what proves it. */
export async function json<T = Record<string, unknown>>(answer: Response): Promise<T> {
  return (await answer.json()) as T;
}

export interface TokenBody {
  access_token: string;
  token_type: string;
  expires_in: number;
  refresh_token: string;
  scope: string;
}

export interface ErrorBody {
  error: string;
  error_description: string;
  request_id: string;
  errors?: { field: string; code: string; message: string }[];
  doc_url: string;
}
