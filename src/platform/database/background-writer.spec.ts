import { BackgroundWriter } from './background-writer.js';

class SlowWriter extends BackgroundWriter {
  started = 0;
  waiting = 0;
  written = 0;
  finish: () => void = () => undefined;

  protected override async writeWaiting(): Promise<void> {
    const batch = this.waiting;
    this.waiting = 0;
    this.started += 1;
    await new Promise<void>((resolve) => (this.finish = resolve));
    this.written += batch;
  }
}

it('BackgroundWriter writes records that arrive during a slow write in one further write', async () => {
  const writer = new SlowWriter();
  writer.waiting = 1;
  const first = writer.flush();
  await vi.waitFor(() => expect(writer.started).toBe(1));
  writer.waiting = 2;
  const others = [writer.flush(), writer.flush(), writer.flush()];
  writer.finish();
  await first;
  expect(writer.written).toBe(1);
  await vi.waitFor(() => expect(writer.started).toBe(2));
  writer.finish();
  await Promise.all(others);
  expect(writer).toMatchObject({ started: 2, written: 3, waiting: 0 });
});
