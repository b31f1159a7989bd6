import { BackgroundWriter } from './background-writer.js';

class SlowWriter extends BackgroundWriter {
  begun = 0;
  waiting = 0;
  written = 0;
  end: () => void = () => undefined;

  protected override async writeWaiting(): Promise<void> {
    const taken = this.waiting;
    this.waiting = 0;
    this.begun += 1;
    await new Promise<void>((resolve) => (this.end = resolve));
    this.written += taken;
  }
}

it('A slow database is asked once more at a time, for all that came meanwhile', async () => {
  const writer = new SlowWriter();
  writer.waiting = 1;
  const first = writer.flush();
  await vi.waitFor(() => expect(writer.begun).toBe(1));
  writer.waiting = 2;
  const others = [writer.flush(), writer.flush(), writer.flush()];
  writer.end();
  await first;
  expect(writer.written).toBe(1);
  await vi.waitFor(() => expect(writer.begun).toBe(2));
  writer.end();
  await Promise.all(others);
  expect(writer).toMatchObject({ begun: 2, written: 3, waiting: 0 });
});
