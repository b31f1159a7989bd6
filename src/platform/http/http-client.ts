/** An answer of another service, of which only these are looked at. */
export interface HttpAnswer {
  status: number;
  headers: Headers;
}

/** Why there is no answer; `code` is the system's, such as ECONNREFUSED, or `unknown`. */
export type ConnectionFault = { kind: 'timeout' } | { kind: 'connection'; code: string };

/** One HTTP request, without following redirects. Answers what came back, and never throws: no answer is a fault. */
export async function httpCall(
  url: string,
  timeoutMs: number,
  init: Omit<RequestInit, 'signal' | 'redirect'>,
): Promise<HttpAnswer | ConnectionFault> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { ...init, signal, redirect: 'manual' });
    // The status alone decides: a body that breaks off must not make an answer look lost.
    await response.body?.cancel().catch(() => undefined);
    return { status: response.status, headers: response.headers };
  } catch (error) {
    return signal.aborted
      ? { kind: 'timeout' }
      : { kind: 'connection', code: connectionCode(error) };
  }
}

/** What a fault is, after the name of whoever did not answer. */
export function faultWords(fault: ConnectionFault): string {
  if (fault.kind === 'timeout') return 'did not answer in time';
  return `could not be reached (${fault.code})`;
}

/** `fetch` keeps it in the cause. */
function connectionCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : 'unknown';
}
