import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterSource } from './cluster-source';

/**
 * Serves `<dir>/<uid>/log.txt` and `<dir>/<uid>/manifest.yaml` byte for byte; a folder's name is the cluster's uid.
 * A folder that is a symbolic link is not served. Its methods reject with the file system's own errors.
 */
export function folderContent(dir: string): ClusterSource {
  const clusterUids = async () => {
    const entries = await readdir(dir, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  };

  const openFile = async (uid: string, file: string) => {
    // Only what the folder lists is opened: that keeps `..` and separators out, and keeps a file system that ignores
    // case from answering for another cluster.
    if (!(await clusterUids()).includes(uid)) {
      return undefined;
    }
    try {
      return await open(join(dir, uid, file));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        return undefined;
      }
      throw error;
    }
  };
  const read = async (uid: string, file: string) => (await openFile(uid, file))?.createReadStream();

  return {
    clusterUids,
    log: (uid) => read(uid, 'log.txt'),
    manifest: (uid) => read(uid, 'manifest.yaml'),
    describe: async (uid) => {
      const file = await openFile(uid, 'log.txt');
      try {
        return file && { state: 'Available', lastModified: (await file.stat()).mtime };
      } finally {
        await file?.close();
      }
    },
  };
}
