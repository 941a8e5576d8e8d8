/** A CRC32 as S3 writes it in headers: four bytes, the highest first, in base64. */
export function checksumText(crc32: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32);
  return bytes.toString('base64');
}
