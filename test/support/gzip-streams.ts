import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

/** gzip of the same content as different programs write it (RFC 1952). */
export function gzipStreams(content: string | Buffer): Record<string, Buffer> {
  const bytes = Buffer.from(content);
  const [third, half] = [Math.floor(bytes.length / 3), Math.floor(bytes.length / 2)];
  return {
    'of level 1': gzipSync(bytes, { level: 1 }),
    'of level 6': gzipSync(bytes, { level: 6 }),
    'of level 9': gzipSync(bytes, { level: 9 }),
    'without any compression': gzipSync(bytes, { level: 0 }),
    'of several members, one of them empty': Buffer.concat(
      [bytes.subarray(0, third), Buffer.alloc(0), bytes.subarray(third, half), bytes.subarray(half)].map((part) =>
        gzipSync(part),
      ),
    ),
    'with a file name and a comment': namedGzip(bytes),
  };
}

/** One member with extra data, a file name, a comment and a checksum of its header. */
function namedGzip(content: Buffer): Buffer {
  const flags = 0x02 | 0x04 | 0x08 | 0x10;
  const head = Buffer.concat([
    Buffer.from([0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 0, 3]),
    Buffer.from([4, 0, 0x41, 0x42, 0, 0]),
    Buffer.from('record.json\0made by a test\0', 'latin1'),
  ]);
  const sums = Buffer.alloc(10);
  sums.writeUInt16LE(crc32(head) & 0xffff, 0);
  sums.writeUInt32LE(crc32(content), 2);
  sums.writeUInt32LE(content.length, 6);
  return Buffer.concat([head, sums.subarray(0, 2), deflateRawSync(content), sums.subarray(2)]);
}

/** Streams that begin like gzip of the content and are not, by what is wrong with them. */
export function damagedGzipStreams(content: string | Buffer): Record<string, Buffer> {
  const whole = gzipSync(content);
  const second = gzipSync('a second member');
  const changed = (stream: Buffer, fromEnd: number) => {
    const bytes = Buffer.from(stream);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - fromEnd) ^ 1, bytes.length - fromEnd);
    return bytes;
  };
  return {
    'cut in its data': whole.subarray(0, whole.length >> 1),
    'cut in its trailer': whole.subarray(0, -3),
    'with a wrong checksum': changed(whole, 8),
    'with a wrong length': changed(whole, 4),
    'followed by zeros': Buffer.concat([whole, Buffer.alloc(100)]),
    'followed by one zero': Buffer.concat([whole, Buffer.alloc(1)]),
    'followed by text': Buffer.concat([whole, Buffer.from('and something else')]),
    'followed by the first byte of another member': Buffer.concat([whole, second.subarray(0, 1)]),
    'followed by zeros and another member': Buffer.concat([whole, Buffer.alloc(100), second]),
    'whose second member is cut': Buffer.concat([whole, second.subarray(0, -1)]),
    'whose second member has a wrong checksum': Buffer.concat([whole, changed(second, 8)]),
    'that is no gzip at all': Buffer.from(content),
    'without a byte': Buffer.alloc(0),
  };
}
