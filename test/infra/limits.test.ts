import fc from 'fast-check';
import { functionTimeoutSeconds, underWayMs } from '../../archive/format/clocks';
import { configSchema } from '../../infra/config/config-schema';
import {
  deliveryAgeSeconds,
  eventAgeSeconds,
  largestTemporaryStorageMiB,
  memoryMiB,
  mostConcurrency,
  temporaryStorageMiB,
} from '../../infra/limits';
import { memoryLimitBytes } from '../../lambda/collect/body/spool';
import { exampleJson } from './example-config';

const limits = fc
  .record({ concurrency: fc.integer({ min: 1, max: mostConcurrency }), maxBodyMiB: fc.integer({ min: 1, max: 5000 }) })
  .filter((wanted) => configSchema('').safeParse({ ...exampleJson(), limits: wanted }).success);

describe('the limits', () => {
  it('give enough temporary storage for all bodies under way, whatever the configuration allows', () => {
    fc.assert(
      fc.property(limits, ({ concurrency, maxBodyMiB }) => {
        const size = temporaryStorageMiB({ concurrency, maxBodyMiB });
        expect(size).toBeGreaterThan(concurrency * maxBodyMiB);
        expect(size).toBeGreaterThanOrEqual(512);
        expect(size).toBeLessThanOrEqual(largestTemporaryStorageMiB);
      }),
      { numRuns: 50 },
    );
  });

  it('give three times the memory that bodies under way keep, whatever the concurrency', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: mostConcurrency }), (concurrency) => {
        const bodies = (concurrency * memoryLimitBytes) / 1024 ** 2;
        const size = memoryMiB({ concurrency });
        expect(size).toBeGreaterThan(3 * bodies);
        // A new account gives a function no more.
        expect(size).toBeLessThanOrEqual(3008);
      }),
    );
  });

  it('give one whole processor, and more memory only for more than 123 bodies under way', () => {
    expect(memoryMiB({ concurrency: 1 })).toBe(1769);
    expect(memoryMiB({ concurrency: 123 })).toBe(1769);
    expect(memoryMiB({ concurrency: 128 })).toBe(1808);
    expect(memoryMiB({ concurrency: mostConcurrency })).toBe(3003);
  });

  it('let a run that waited for the one before it write its record before anybody calls it absent', () => {
    const longestSeconds = deliveryAgeSeconds + eventAgeSeconds(true) + functionTimeoutSeconds;
    expect(underWayMs).toBeGreaterThan(longestSeconds * 1000);
  });
});
