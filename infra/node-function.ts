import { Duration, RemovalPolicy, type Size } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { ApplicationLogLevel, Architecture, type IDestination, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { asynchronousAttempts, functionTimeoutSeconds } from '../lambda/stack-contract';
import type { CollectorConfig } from './config/config';
import { type DataFile, functionCode } from './function-bundle';
import { allow } from './grants';
import { eventAgeSeconds } from './limits';
import { Network } from './network';

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
  /** Gets the events that fail for good; a function of its role if the role needs a permission. */
  readonly onFailure: IDestination | ((role: Role) => IDestination);
  /** Gives the role its permissions. Returns the environment in which the function finds what it may use. */
  readonly provide: (role: Role) => Readonly<Record<string, string>>;
}

export interface NodeFunction {
  readonly function: NodejsFunction;
  readonly logGroup: LogGroup;
  readonly role: Role;
}

/** A function of this project in the scope of its construct, with a role and a log group of its own. */
export function createNodeFunction(scope: Construct, props: NodeFunctionProps): NodeFunction {
  const { config, onFailure, reservedConcurrency } = props;
  const logGroup = new LogGroup(scope, 'Logs', {
    retention: RetentionDays.SIX_MONTHS,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const role = createRole(scope, props.roleDescription, logGroup);
  const environment = props.provide(role);
  const destination = typeof onFailure === 'function' ? onFailure(role) : onFailure;
  const network = config.network === undefined ? undefined : new Network(scope, 'Network', config.network);
  network?.grantAttach(role);
  const target = new NodejsFunction(scope, 'Function', {
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
    // An option of version 2 of the SDK, which the functions do not use.
    awsSdkConnectionReuse: false,
    retryAttempts: asynchronousAttempts - 1,
    reservedConcurrentExecutions: reservedConcurrency,
    maxEventAge: Duration.seconds(eventAgeSeconds(reservedConcurrency !== undefined)),
    onFailure: destination,
    vpc: network?.vpc,
    vpcSubnets: network && { subnets: network.subnets },
    securityGroups: network?.securityGroups,
  });
  target.node.addDependency(role.node.findChild('DefaultPolicy'));
  return { function: target, logGroup, role };
}

function createRole(scope: Construct, description: string, logGroup: LogGroup): Role {
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com'), description });
  allow(role, 'WriteLog', ['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]);
  return role;
}
