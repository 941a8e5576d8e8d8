import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Resource, resourceNames } from '../../lambda/resources';
import type { ClusterSource } from './demo-answer';

/** The file names of each resource. If a cluster has several of them, the first one is served. */
const fileNames: Readonly<Record<Resource, readonly string[]>> = {
  log: ['log.txt'],
  manifest: ['manifest.yaml', 'manifest.yml', 'manifest.json', 'manifest.txt'],
};

export interface FolderContent extends ClusterSource {
  /** What the folder lacks: `b has no log (log.txt)`. */
  missing(): Promise<string[]>;
}

/**
 * Serves the log and the manifest of each `<dir>/<uid>/` byte for byte; the folder's name is the cluster's uid. Folders
 * whose name begins with a dot, such as `.git`, and symbolic links are no clusters. Its methods reject with the file
 * system's own errors.
 */
export function folderContent(dir: string): FolderContent {
  const clusterUids = async () => {
    const entries = await readdir(dir, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
      .sort();
  };

  // Only what the folder lists is opened: that keeps `..` and separators out, and keeps a file system that ignores case
  // from answering for another cluster.
  const openFile = async (uid: string, resource: Resource) =>
    (await clusterUids()).includes(uid) ? openFirst(join(dir, uid), fileNames[resource]) : undefined;

  return {
    clusterUids,
    log: async (uid) => (await openFile(uid, 'log'))?.createReadStream(),
    manifest: async (uid) => (await openFile(uid, 'manifest'))?.createReadStream(),
    describe: async (uid) => {
      const file = await openFile(uid, 'log');
      try {
        return file && { state: 'Available', lastModified: (await file.stat()).mtime };
      } finally {
        await file?.close();
      }
    },
    missing: async () => {
      const found: string[] = [];
      for (const uid of await clusterUids())
        for (const resource of resourceNames) {
          const file = await openFirst(join(dir, uid), fileNames[resource]);
          if (file === undefined) found.push(`${uid} has no ${resource} (${fileNames[resource].join(', ')})`);
          await file?.close();
        }
      return found;
    },
  };
}

/** The first of these files that is there. */
async function openFirst(folder: string, names: readonly string[]): Promise<FileHandle | undefined> {
  for (const name of names) {
    try {
      return await open(join(folder, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}
