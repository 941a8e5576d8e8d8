import { createS3Client } from '../../lambda/archive/aws-clients';
import { S3Archive } from '../../lambda/archive/s3-archive';
import { systemClock } from '../../lambda/clock';
import { handler } from '../../lambda/handler';

/** One object through the function's own adapter; the handler is loaded with it, as in the function. */
export function putOnce(): Promise<unknown> {
  const archive = new S3Archive(createS3Client(8, console.warn), process.env.ARCHIVE_BUCKET ?? '', systemClock);
  const content = Buffer.alloc(25_000, 'a log ');
  return archive.put(
    { key: `logs/${typeof handler}`, content, contentType: 'application/json' },
    AbortSignal.timeout(60_000),
  );
}
