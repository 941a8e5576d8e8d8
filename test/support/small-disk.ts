import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { newFolder } from './new-folder';

/** Lays an empty disk in memory over a folder. Mounting takes root, and a kernel that lets it: false where it cannot. */
function mount(folder: string, kibibytes: number): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function unmount(folder: string): void {
  execFileSync('umount', ['-l', folder]);
}

/** Whether {@link withSmallDisk} works here. */
export function canMountDisks(): boolean {
  const probe = newFolder();
  const works = mount(probe, 64);
  if (works) unmount(probe);
  rmSync(probe, { recursive: true });
  return works;
}

/** Works while a folder, which is made if it is absent, lies on a disk of so many KiB. */
export async function withSmallDisk<T>(folder: string, kibibytes: number, work: () => Promise<T>): Promise<T> {
  mount(folder, kibibytes);
  try {
    return await work();
  } finally {
    unmount(folder);
  }
}
