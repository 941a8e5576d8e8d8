import { Validations } from 'aws-cdk-lib';
import { type ISecurityGroup, type ISubnet, type IVpc, SecurityGroup, Subnet, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Effect, type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { CollectorConfig } from './config/config';
import { allow } from './grants';

/**
 * The existing VPC that the function runs in. Nothing is looked up, so synthesis needs no account. To leave the VPC takes two
 * steps: docs/operations.md, "Changing a deployed stack".
 */
export class Network extends Construct {
  readonly vpc: IVpc;
  readonly subnets: ISubnet[];
  readonly securityGroups: ISecurityGroup[];

  constructor(scope: Construct, id: string, props: NonNullable<CollectorConfig['network']>) {
    super(scope, id);
    // CDK needs zones only to choose subnets. Here the subnets are given.
    this.vpc = Vpc.fromVpcAttributes(this, 'Vpc', { vpcId: props.vpcId, availabilityZones: ['unused'] });
    this.subnets = props.subnetIds.map((subnet) => Subnet.fromSubnetId(this, subnet, subnet));
    Validations.of(this).acknowledge({
      id: '@aws-cdk/aws-ec2:noSubnetRouteTableId',
      reason: 'Nothing here uses route tables; the function needs only the ids of the subnets.',
    });
    this.securityGroups = props.securityGroupIds.map((group) =>
      SecurityGroup.fromSecurityGroupId(this, group, group, { mutable: false }),
    );
  }

  /** Lets Lambda attach the function to the network. The function's own code may not make these calls. */
  grantAttach(role: IRole): void {
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
}
