import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a database is, until there is no room, and once there is again. */
export interface Fillable {
  /** Takes all the space that is left. */
  fill(): Promise<void>;
  /** Gives it back. */
  free(): Promise<void>;
}

/** A file system of its own that is soon full. Only root may mount one. */
export class SmallDisk implements Fillable {
  private constructor(readonly folder: string) {}

  /** Undefined where this machine does not let us. */
  static mount(megabytes: number): SmallDisk | undefined {
    const folder = mkdtempSync(join(tmpdir(), 'platform-disk-'));
    try {
      const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder];
      execFileSync('mount', options, { stdio: 'ignore' });
    } catch {
      rmSync(folder, { recursive: true });
      return undefined;
    }
    return new SmallDisk(folder);
  }

  async fill(): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder);
    const file = await open(this.filler, 'w');
    await file.write(Buffer.alloc(bavail * bsize));
    await file.close();
  }

  async free(): Promise<void> {
    await rm(this.filler);
  }

  unmount(): void {
    execFileSync('umount', [this.folder]);
    rmSync(this.folder, { recursive: true });
  }

  private get filler(): string {
    return join(this.folder, 'filler');
  }
}
