/** The used parts of another service's response. */
export interface HttpResult {
  status: number;
  headers: Headers;
}

/** The reason for a missing response; `code` is the system's, such as ECONNREFUSED, or `unknown`. */
export type ConnectionFailure = { kind: 'timeout' } | { kind: 'connection'; code: string };

/** Sends one HTTP request without following redirects. Never throws: a missing response is a fault. */
export async function httpCall(
  url: string,
  timeoutMs: number,
  init: Omit<RequestInit, 'signal' | 'redirect'>,
): Promise<HttpResult | ConnectionFailure> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { ...init, signal, redirect: 'manual' });
    // The status alone decides, also when the body breaks off.
    await response.body?.cancel().catch(() => undefined);
    return { status: response.status, headers: response.headers };
  } catch (error) {
    return signal.aborted
      ? { kind: 'timeout' }
      : { kind: 'connection', code: connectionCode(error) };
  }
}

/** Describes a fault, after the name of the other service. */
export function describeFailure(fault: ConnectionFailure): string {
  if (fault.kind === 'timeout') return 'did not answer in time';
  return `could not be reached (${fault.code})`;
}

/** `fetch` keeps it in the cause. */
function connectionCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : 'unknown';
}
