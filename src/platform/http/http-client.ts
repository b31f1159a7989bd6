/** The response of another service, without its body. */
export interface HttpResult {
  status: number;
  headers: Headers;
}

/** Why there is no response. `code` is a system error code, such as ECONNREFUSED, or `unknown`. */
export type RequestFailure = { kind: 'timeout' } | { kind: 'connection'; code: string };

/** Sends one HTTP request without following redirects. Never throws: returns a failure if there is no response. */
export async function httpCall(
  url: string,
  timeoutMs: number,
  init: Omit<RequestInit, 'signal' | 'redirect'>,
): Promise<HttpResult | RequestFailure> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { ...init, signal, redirect: 'manual' });
    // Callers need only status and headers, so an error while discarding the body is ignored.
    await response.body?.cancel().catch(() => undefined);
    return { status: response.status, headers: response.headers };
  } catch (error) {
    return signal.aborted
      ? { kind: 'timeout' }
      : { kind: 'connection', code: connectionCode(error) };
  }
}

/** Describes a failure as a predicate, to follow the name of the other service: `did not respond in time`. */
export function describeFailure(failure: RequestFailure): string {
  if (failure.kind === 'timeout') return 'did not respond in time';
  return `could not be reached (${failure.code})`;
}

/** The cause of a `fetch` error has the system error code. */
function connectionCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : 'unknown';
}
