/** As much of the package as is used here; to go when the package is installed. */
declare module '@aws-sdk/lib-storage' {
  import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3';

  export class Upload {
    constructor(options: { client: S3Client; params: PutObjectCommandInput });
    done(): Promise<unknown>;
  }
}
