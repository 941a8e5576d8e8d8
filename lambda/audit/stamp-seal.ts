import { authoritySlackMs } from '../../archive/format/clocks';
import { sealStampKey } from '../../archive/format/keys';
import type { StampAuthority } from '../../archive/format/plan';
import { type RightSeal, type requestStamp, type SealChain, StampError } from '../../archive/prove/attest';
import type { S3Archive } from '../collect/put/s3-archive';

/** What came of asking an authority for a stamp of a seal. */
export interface AskedStamp {
  readonly authority: string;
  /** When the authority says that it saw the seal; undefined: the seal has no stamp of it. */
  readonly time?: string;
  /** Why it has none. */
  readonly problem?: string;
  /** Since when seals have none: the time of the newest that has one, or of the first that was to have one. */
  readonly since?: string;
}

export interface StampSealContext {
  readonly authorities: readonly StampAuthority[];
  readonly chain: Pick<SealChain, 'seals'>;
  /** Keys of the stamps that were judged, and are right. */
  readonly stamped: ReadonlySet<string>;
  readonly sink: Pick<S3Archive, 'put'>;
  readonly requestStamp: typeof requestStamp;
  /** By S3's own clock. */
  readonly now: Date;
}

/** How long the writing of a stamp may take, in milliseconds. */
const writeLimitMs = 15_000;

/**
 * Asks the authorities for stamps of a seal, all at once, and stores their answers. Never fails: a stamp that cannot be had
 * costs nothing but this stamp, since one of a later seal covers this one too, through the chain.
 */
export function stampSeal(
  seal: Pick<RightSeal, 'number' | 'sha256'>,
  { authorities, chain, stamped, sink, requestStamp, now }: StampSealContext,
): Promise<AskedStamp[]> {
  const keyOf = (authority: string, { number } = seal) => sealStampKey({ number, authority });
  const stamp = async (authority: StampAuthority): Promise<AskedStamp> => {
    const { name } = authority;
    try {
      const { time, response } = await requestStamp(authority, Buffer.from(seal.sha256, 'hex'));
      if (Math.abs(time.getTime() - now.getTime()) > authoritySlackMs)
        throw new StampError(`${name} says that it is ${time.toISOString()}; S3 says ${now.toISOString()}`);
      const object = { key: keyOf(name), content: response, contentType: 'application/timestamp-reply' };
      // Whatever lies there was not judged to be a stamp of this seal: nobody says yet that it is one.
      if ((await sink.put(object, AbortSignal.timeout(writeLimitMs))) !== 'archived')
        throw new StampError(`Storing the stamp of ${name} failed: something lies under ${object.key} already`);
      return { authority: name, time: time.toISOString() };
    } catch (error) {
      const lastStamped = chain.seals.findLast((one) => stamped.has(keyOf(name, one)))?.seal;
      const planned = chain.seals.find(({ plan }) => plan.timestamps?.some((one) => one.name === name));
      const since = lastStamped ?? planned?.seal ?? now.toISOString();
      return { authority: name, problem: error instanceof Error ? error.message : String(error), since };
    }
  };
  // Another invocation of the same audit may have stamped it already.
  return Promise.all(authorities.filter(({ name }) => !stamped.has(keyOf(name))).map(stamp));
}
