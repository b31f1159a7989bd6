import { Worker } from 'node:worker_threads';

/** Latencies of requests, in milliseconds. */
export interface Latencies {
  requests: number;
  failed: number;
  p50: number;
  p99: number;
  worst: number;
}

/** Four callers that send requests, with a pause of 20 ms after each response. They run in their own thread, so that other work of the test delays none of them. */
const CALLERS = `
  const { workerData: { url, token, isDone }, parentPort } = require('node:worker_threads');
  async function call() {
    const times = [];
    let failed = 0;
    while (Atomics.load(isDone, 0) === 0) {
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

/** Sends GET requests while `work` runs, and returns their latencies. */
export async function requestsDuring(
  url: string,
  token: string,
  work: () => Promise<unknown>,
): Promise<Latencies> {
  const isDone = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(CALLERS, { eval: true, workerData: { url, token, isDone } });
  const ended = new Promise<{ times: number[]; failed: number }[]>((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
  });
  await work();
  Atomics.store(isDone, 0, 1);
  const calls = await ended;
  const times = calls.flatMap((call) => call.times).toSorted((one, other) => one - other);
  const rounded = (milliseconds = 0): number => Math.round(milliseconds * 10) / 10;
  const quantile = (fraction: number): number =>
    rounded(times[Math.floor(times.length * fraction)]);
  return {
    requests: times.length,
    failed: calls.reduce((sum, { failed }) => sum + failed, 0),
    p50: quantile(0.5),
    p99: quantile(0.99),
    worst: rounded(times.at(-1)),
  };
}
