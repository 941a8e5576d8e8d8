/** What comes in chunks of any length, in pieces of at least so many bytes; only the last one is shorter. */
export async function* inPieces(source: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer, undefined> {
  let chunks: Buffer[] = [];
  let length = 0;
  const take = () => {
    const [only] = chunks;
    const piece = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length);
    chunks = [];
    length = 0;
    return piece;
  };
  for await (const chunk of source) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= bytes) yield take();
  }
  if (length > 0) yield take();
}
