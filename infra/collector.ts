import { join } from 'node:path';
import { Duration, RemovalPolicy, Size } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { ApplicationLogLevel, Architecture, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { SnsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { asynchronousAttempts, type CollectorEnvironment, functionTimeoutSeconds } from '../lambda/stack-contract';
import type { Alerts } from './alerts';
import type { ApiKeySecret } from './api-key-secret';
import type { Archive } from './archive';
import type { CollectorConfig } from './config/config';
import { collectionOf, functionBundle, projectRoot } from './function-bundle';
import { eventAgeSeconds, memoryMiB, temporaryStorageMiB } from './limits';
import { Network } from './network';

export interface CollectorProps {
  readonly config: CollectorConfig;
  readonly archive: Archive;
  readonly apiKeySecret: ApiKeySecret;
  readonly alerts: Alerts;
}

/**
 * The function that works on a run, with its role and its log group.
 *
 * Grants stand with the construct that they give access to: Archive, ApiKeySecret, Alerts and Network each add theirs to
 * the role. test/infra/collector.test.ts lists them all.
 */
export class Collector extends Construct {
  readonly function: NodejsFunction;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, { config, archive, apiKeySecret, alerts }: CollectorProps) {
    super(scope, id);
    this.logGroup = new LogGroup(this, 'Logs', {
      retention: RetentionDays.SIX_MONTHS,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = this.#createRole();
    const environment: CollectorEnvironment = { ...archive.provideTo(role), ...apiKeySecret.provideTo(role) };
    alerts.grantPublish(role);
    const network = config.network === undefined ? undefined : new Network(this, 'Network', config.network);
    network?.grantAttach(role);
    this.function = new NodejsFunction(this, 'Function', {
      description: `Archives the logs and manifests of the clusters of ${config.name}`,
      entry: join(projectRoot, 'lambda', 'handler.ts'),
      projectRoot,
      depsLockFilePath: join(projectRoot, 'package-lock.json'),
      bundling: functionBundle(this, collectionOf(config)),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(functionTimeoutSeconds),
      memorySize: memoryMiB(config.limits),
      ephemeralStorageSize: Size.mebibytes(temporaryStorageMiB(config.limits)),
      // The constructs would add permissions on their own, wider than needed.
      role: role.withoutPolicyUpdates(),
      logGroup: this.logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      environment: {
        ...environment,
        POWERTOOLS_SERVICE_NAME: config.name,
        // Stack traces name lines of the sources, not of the minified bundle.
        NODE_OPTIONS: '--enable-source-maps',
      },
      // An option of version 2 of the SDK, which the function does not use.
      awsSdkConnectionReuse: false,
      retryAttempts: asynchronousAttempts - 1,
      maxEventAge: Duration.seconds(eventAgeSeconds),
      onFailure: new SnsDestination(alerts.topic),
      vpc: network?.vpc,
      vpcSubnets: network && { subnets: network.subnets },
      securityGroups: network?.securityGroups,
    });
    this.function.node.addDependency(role.node.findChild('DefaultPolicy'));
  }

  #createRole(): Role {
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: 'What the log collector may do: add to its archive, read its run records, its key and nothing else',
    });
    role.addToPrincipalPolicy(
      new PolicyStatement({
        sid: 'WriteLog',
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [this.logGroup.logGroupArn],
      }),
    );
    return role;
  }
}
