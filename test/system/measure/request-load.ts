import { Worker } from 'node:worker_threads';

/** Latencies of requests, in milliseconds. */
export interface Latencies {
  requests: number;
  failed: number;
  p50: number;
  p99: number;
  worst: number;
}

/** Four callers that send requests continuously in their own thread, so that they wait only for the service. */
const CALLERS = `
  const { workerData: { url, token, over }, parentPort } = require('node:worker_threads');
  async function call() {
    const times = [];
    let failed = 0;
    while (Atomics.load(over, 0) === 0) {
      const startedAt = performance.now();
      const response = await fetch(url, { headers: { authorization: 'Bearer ' + token } });
      await response.text();
      if (response.status !== 200) failed += 1;
      times.push(performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return { times, failed };
  }
  Promise.all([call(), call(), call(), call()]).then((calls) => parentPort.postMessage(calls));
`;

/** Sends GET requests while `work` runs. */
export async function requestsDuring(
  url: string,
  token: string,
  work: () => Promise<unknown>,
): Promise<Latencies> {
  const over = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(CALLERS, { eval: true, workerData: { url, token, over } });
  const ended = new Promise<{ times: number[]; failed: number }[]>((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
  });
  await work();
  Atomics.store(over, 0, 1);
  const calls = await ended;
  const times = calls.flatMap((call) => call.times).toSorted((one, other) => one - other);
  const at = (part: number): number =>
    Math.round((times[Math.floor(times.length * part)] ?? 0) * 10) / 10;
  return {
    requests: times.length,
    failed: calls.reduce((sum, { failed }) => sum + failed, 0),
    p50: at(0.5),
    p99: at(0.99),
    worst: at(1 - 1e-9),
  };
}
