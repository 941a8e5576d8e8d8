import { Duration, RemovalPolicy, type Size, Validations } from 'aws-cdk-lib';
import { Effect, type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  type CfnFunction,
  type IDestination,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { functionTimeoutSeconds } from '../archive/format/clocks';
import { asynchronousAttempts } from '../lambda/time-limits';
import type { CollectorConfig } from './config/config';
import { type DataFile, functionCode } from './function-code';
import { eventAgeSeconds } from './limits';
import { allow } from './policy-statements';

export interface NodeFunctionProps {
  readonly config: Pick<CollectorConfig, 'name' | 'network'>;
  readonly description: string;
  /** File in lambda/ that exports `handler`. */
  readonly entry: string;
  readonly dataFile?: DataFile;
  readonly memoryMiB: number;
  /** Left out: Lambda's own 512 MiB. */
  readonly temporaryStorage?: Size;
  readonly roleDescription: string;
  /** Invocations under way at once; left out: as many as the account has. Others wait in Lambda's queue. */
  readonly reservedConcurrency?: number | undefined;
  /** Gives the role its permissions. Returns the environment in which the function finds what it may use. */
  readonly provide: (role: Role) => Readonly<Record<string, string>>;
  /** Returns what gets the events that fail for good, after the role may pass them on. */
  readonly onFailure: (role: Role) => IDestination;
}

/** A function of this project in the scope of its construct, with a role and a log group of its own. */
export function createNodeFunction(scope: Construct, props: NodeFunctionProps) {
  const { config, reservedConcurrency } = props;
  const logGroup = new LogGroup(scope, 'Logs', {
    retention: RetentionDays.SIX_MONTHS,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const role = new Role(scope, 'Role', {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    description: props.roleDescription,
  });
  allow(role, 'WriteLog', ['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]);
  const environment = props.provide(role);
  const onFailure = props.onFailure(role);
  if (config.network !== undefined) allowAttaching(role);
  const target = new LambdaFunction(scope, 'Function', {
    description: props.description,
    code: functionCode(scope, props.entry, props.dataFile),
    handler: 'index.handler',
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    timeout: Duration.seconds(functionTimeoutSeconds),
    memorySize: props.memoryMiB,
    ephemeralStorageSize: props.temporaryStorage,
    // The constructs would add permissions on their own, wider than needed.
    role: role.withoutPolicyUpdates(),
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    applicationLogLevelV2: ApplicationLogLevel.INFO,
    environment: {
      ...environment,
      POWERTOOLS_SERVICE_NAME: config.name,
      // Stack traces name lines of the sources, not of the minified bundle.
      NODE_OPTIONS: '--enable-source-maps',
    },
    retryAttempts: asynchronousAttempts - 1,
    reservedConcurrentExecutions: reservedConcurrency,
    maxEventAge: Duration.seconds(eventAgeSeconds(reservedConcurrency !== undefined)),
    onFailure,
  });
  // Not the property `vpc`: CDK would want what it takes to choose subnets, and here they are given. To leave the VPC takes two
  // steps: docs/operations.md, "Changing a deployed stack".
  if (config.network !== undefined) (target.node.defaultChild as CfnFunction).vpcConfig = config.network;
  target.node.addDependency(role.node.findChild('DefaultPolicy'));
  return { function: target, role, logGroup };
}

/** Lets Lambda attach the function to the network. The function's own code may not make these calls. */
function allowAttaching(role: IRole): void {
  const actions = [
    'ec2:CreateNetworkInterface',
    'ec2:DescribeNetworkInterfaces',
    'ec2:DescribeSubnets',
    'ec2:DeleteNetworkInterface',
    'ec2:AssignPrivateIpAddresses',
    'ec2:UnassignPrivateIpAddresses',
  ];
  allow(role, 'AttachToNetwork', actions, ['*']);
  role.addToPrincipalPolicy(
    new PolicyStatement({
      sid: 'NotFromTheCode',
      effect: Effect.DENY,
      actions,
      resources: ['*'],
      // This key is present only on calls with the credentials of the code.
      conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
    }),
  );
  Validations.of(role).acknowledge({
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason:
      'Lambda attaches the function with these calls. Most of them take no resource, and the ids of the ' +
      'interfaces are not known in advance. The next statement denies the calls to the code.',
  });
}
