import { metricNames, metricNamespace } from '../../lambda/stack-contract';
import type { Template } from '../../local/deployment/stack-template';
import { uids, useLocalCollector } from '../end-to-end/local-collector';
import { counted, expectNoTrace, lost, path, useMonitoringService } from '../end-to-end/monitoring-service';
import { findCommand } from '../local/aws/moto-server';
import { useMotoStates } from './moto-states';

const name = 'told-in-shards';
const shards = 2;
const scheduledTime = '2026-11-20T12:00:00.000Z';
const moto = findCommand('moto_server');
const metric = (one: string) => ({ namespace: metricNamespace, name: one, value: 1, dimensions: { service: name } });

(moto === undefined ? describe.skip : describe)(
  'the last step of the state machine, in moto (skipped where moto_server is not found)',
  () => {
    const interpreter = useMotoStates(moto ?? '');
    const service = useMonitoringService();
    const alerts = { heartbeat: { secret: 'monitoring/heartbeat' } };
    const collector = useLocalCollector({ name, shards, clusters: uids, alerts });
    const deploy = (edit: (template: Template) => void = () => {}) =>
      collector.deploy({ heartbeatAddress: service.address, edit });

    it('tells the monitoring service once that all shards of a run of the schedule are complete', async () => {
      const deployed = await deploy();
      expect((await interpreter.start(deployed, { scheduledTime })).failure).toBeUndefined();
      const counts = { archived: 6, alreadyArchived: 0, failed: 0, notAttempted: 0 };
      expect(service.told).toEqual([{ path, body: { stack: name, run: scheduledTime, counts } }]);
      expect(interpreter.invocations()).toBe(shards + 1);
      expect(await interpreter.metrics()).toEqual([metric(metricNames.scheduled)]);
      expect(lost(deployed)).toBe('');
      await expectNoTrace(deployed);
    });

    it.each([
      // Moto cannot write down the time of an execution, which names a run without another name.
      ['what a person starts', { newRun: scheduledTime }],
      ['a dry run', { scheduledTime, dryRun: true }],
      ['some of the clusters', { scheduledTime, clusters: ['alpha'] }],
    ])('does not ask to tell of %s', async (_what, event) => {
      const deployed = await deploy();
      const { failure } = await interpreter.start(deployed, event);
      expect(failure).toBeUndefined();
      expect(interpreter.invocations()).toBe(shards);
      expect(service.told).toEqual([]);
    });

    it('does not ask to tell of a run of which a shard is incomplete', async () => {
      const deployed = await deploy();
      collector.failing.alpha = 'not-found';
      expect((await interpreter.start(deployed, { scheduledTime })).failure?.error).toBe('ShardsFailedError');
      expect(interpreter.invocations()).toBe(1 + 3);
      expect(service.told).toEqual([]);
    });

    it('does not fail a complete run: what the service refuses the function counts, and what the function refuses it counts itself', async () => {
      service.answers = [500, 500];
      const refused = await deploy();
      expect((await interpreter.start(refused, { scheduledTime })).failure).toBeUndefined();
      expect(counted(refused)).toBe(1);
      expect(await interpreter.metrics()).toEqual([metric(metricNames.scheduled)]);

      const silent = await deploy(({ Resources }) => {
        for (const { Type, Properties } of Object.values(Resources))
          if (Type === 'AWS::Lambda::Function')
            delete (Properties?.Environment as { Variables: Record<string, unknown> }).Variables.HEARTBEAT_SECRET;
      });
      expect((await interpreter.start(silent, { scheduledTime })).failure).toBeUndefined();
      expect(counted(silent)).toBe(0);
      const found = await interpreter.metrics();
      expect(found).toHaveLength(2);
      expect(found).toEqual(
        expect.arrayContaining([metric(metricNames.scheduled), metric(metricNames.heartbeatsLost)]),
      );
      expect(service.told).toHaveLength(2);
    });
  },
);
