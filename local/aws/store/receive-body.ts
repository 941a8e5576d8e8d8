import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

/** Writes a body to a new file; `etag` is its MD5 in lower-case hex. What a body that throws leaves is the caller's to remove. */
export async function receiveBody(
  path: string,
  body: AsyncIterable<Uint8Array> | Buffer,
): Promise<{ size: number; etag: string }> {
  const md5 = createHash('md5');
  let size = 0;
  const file = await open(path, 'wx');
  try {
    for await (const chunk of Buffer.isBuffer(body) ? [body] : body) {
      md5.update(chunk);
      await file.writeFile(chunk);
      size += chunk.length;
    }
  } finally {
    await file.close();
  }
  return { size, etag: md5.digest('hex') };
}
