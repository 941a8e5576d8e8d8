import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventsPerShard, mostShards } from '../../infra/limits';
import { functionTimeoutSeconds } from '../../lambda/stack-contract';
import { assumptions, planFleet, planTable } from './fleet-plan';

const guide = readFileSync(join(__dirname, '..', '..', 'docs', 'large-fleets.md'), 'utf8');

describe('the plan of a fleet', () => {
  it('matches the guide', () => {
    expect(guide).toContain(planTable());
    expect(guide).toContain(`3.5 ms and each of its MB 15 ms`);
    const { processorMsPerCluster, processorMsPerMB, lambdaProcessor, networkMBPerSecond } = assumptions;
    expect([processorMsPerCluster, processorMsPerMB, lambdaProcessor, networkMBPerSecond]).toEqual([3.5, 15, 0.7, 70]);
    const { shards, minutes, dollars, requestsPerSecond } = planFleet({ clusters: 1e6, logMB: 0.1, latencyMs: 100 });
    expect(guide).toContain(`| ${shards} shards, ${Math.round(minutes)} minutes, $${dollars.toFixed(2)}, `);
    expect(guide).toContain(`${shards} shards ask it ${Math.round(requestsPerSecond).toLocaleString('en-US')} times`);
    expect(guide).toContain(`leave ${(mostShards * eventsPerShard + 20).toLocaleString('en-US')} of them`);
  });

  it('lets a shard end well before the function’s limit and its alarm', () => {
    expect(assumptions.minutesOfShard * 60).toBeLessThan(0.8 * functionTimeoutSeconds);
  });

  it('never has fewer shards for more clusters, larger logs or a slower service', () => {
    const fleet = { clusters: 100_000, logMB: 0.1, latencyMs: 100 };
    const { shards } = planFleet(fleet);
    for (const more of [{ clusters: 200_000 }, { logMB: 5 }, { latencyMs: 400 }])
      expect(planFleet({ ...fleet, ...more }).shards).toBeGreaterThan(shards);
  });
});
