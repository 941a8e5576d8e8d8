import * as z from 'zod';
import { deployCollector, writeConfig } from './deploy-steps';
import { auditNow } from './run-steps';
import { CommandError } from './shell';
import { cdk, collector, type Step } from './step';

const policySchema = z.looseObject({ Policy: z.string() });
const documentSchema = z.looseObject({ Statement: z.array(z.looseObject({ Sid: z.optional(z.string()) })) });

/** What `cdk import` names each kind of resource by. */
const idNames: Readonly<Record<string, string>> = {
  'AWS::S3::Bucket': 'BucketName',
  'AWS::SecretsManager::Secret': 'Id',
  'AWS::KMS::Key': 'KeyId',
};

/** docs/operations.md, "Taking over a retained archive", step by step. */
export const takeOverSteps: readonly Step[] = [
  {
    name: 'removed, and taken over',
    minutes: 12,
    usage: { writes: 40, reads: 20 },
    isNeeded: true,
    work: async (sandbox) => {
      const { aws, shell, name } = sandbox;
      const { SigningKey = '' } = await aws.outputsOf(name);
      const resources = await aws.resourcesOf(name);
      const kept = resources.filter(({ LogicalResourceId: id }) => /^(Archive|ApiKeySecret)/.test(id));
      const mapping = kept.flatMap(({ LogicalResourceId, ResourceType, PhysicalResourceId = '' }) => {
        const idName = idNames[ResourceType];
        return idName === undefined ? [] : [[LogicalResourceId, { [idName]: PhysicalResourceId }] as const];
      });
      if (mapping.length < 4) throw new CommandError(`The stack ${name} has ${mapping.length} resources to take over`);

      const unprotect = ['cloudformation', 'update-termination-protection', '--no-enable-termination-protection'];
      await aws.do([...unprotect, '--stack-name', name]);
      await cdk(sandbox, ['destroy', '--force', '-c', `config=${await writeConfig(sandbox)}`]);
      for (const { ResourceType, PhysicalResourceId = '' } of kept)
        if (ResourceType === 'AWS::S3::Bucket')
          await aws.do(['s3api', 'delete-bucket-policy', '--bucket', PhysicalResourceId]);

      const audit = { signingKeyArn: SigningKey };
      const config = await writeConfig(sandbox, audit);
      const file = shell.write('import.json', JSON.stringify(Object.fromEntries(mapping), undefined, 2));
      await cdk(sandbox, ['import', '--force', '--resource-mapping', file, '-c', `config=${config}`]);
      await deployCollector(sandbox, audit);

      const { SigningKeyPolicy = '' } = await aws.outputsOf(name);
      const statement = z.looseObject({ Sid: z.string() }).parse(JSON.parse(SigningKeyPolicy));
      const ofKey = ['--key-id', SigningKey, '--policy-name', 'default'];
      const example = { Policy: JSON.stringify({ Statement: [{ Sid: statement.Sid }] }) };
      const { Policy } = await aws.ask(['kms', 'get-key-policy', ...ofKey], policySchema, example);
      const document = documentSchema.parse(JSON.parse(Policy));
      const others = document.Statement.filter(({ Sid }) => Sid !== statement.Sid);
      const changed = { ...document, Statement: [...others, statement] };
      const policy = `file://${shell.write('key-policy.json', JSON.stringify(changed))}`;
      await aws.do(['kms', 'put-key-policy', ...ofKey, '--policy', policy]);
      return `a new stack took over ${mapping.length} resources, and its audit may sign with the key that was kept`;
    },
  },
  {
    name: 'audit after the take-over',
    minutes: 4,
    usage: { writes: 30, reads: 200, lambdaSeconds: 20 },
    work: async (sandbox) => {
      const { SigningKey = '' } = await sandbox.aws.outputsOf(sandbox.name);
      const config = await writeConfig(sandbox, { signingKeyArn: SigningKey });
      const sealed = await auditNow(sandbox, 1);
      await collector(sandbox, ['doctor', '--config', config]);
      return `the chain goes on: ${sealed}, and doctor ends with 0`;
    },
  },
];
