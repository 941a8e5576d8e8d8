import { Validations } from 'aws-cdk-lib';
import { type ISecurityGroup, type ISubnet, type IVpc, SecurityGroup, Subnet, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Effect, type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { CollectorConfig } from './config/config';

/** The existing network the function runs in. Nothing is looked up, so that synthesis needs no account. */
export class Network extends Construct {
  readonly vpc: IVpc;
  readonly subnets: ISubnet[];
  readonly securityGroups: ISecurityGroup[];

  constructor(scope: Construct, id: string, props: NonNullable<CollectorConfig['network']>) {
    super(scope, id);
    // The zones only matter to those who let CDK choose subnets; these are named.
    this.vpc = Vpc.fromVpcAttributes(this, 'Vpc', { vpcId: props.vpcId, availabilityZones: ['unused'] });
    this.subnets = props.subnetIds.map((subnet) => Subnet.fromSubnetId(this, subnet, subnet));
    Validations.of(this).acknowledge({
      id: '@aws-cdk/aws-ec2:noSubnetRouteTableId',
      reason: 'Nothing here reads the route tables; the function only needs the ids.',
    });
    this.securityGroups = props.securityGroupIds.map((group) =>
      SecurityGroup.fromSecurityGroupId(this, group, group, { mutable: false }),
    );
  }

  /** Lets Lambda, but not the function's own code, attach the function to the network. */
  grantAttach(role: IRole): void {
    const actions = [
      'ec2:CreateNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:DeleteNetworkInterface',
      'ec2:AssignPrivateIpAddresses',
      'ec2:UnassignPrivateIpAddresses',
    ];
    role.addToPrincipalPolicy(new PolicyStatement({ sid: 'AttachToNetwork', actions, resources: ['*'] }));
    role.addToPrincipalPolicy(
      new PolicyStatement({
        sid: 'NotFromTheCode',
        effect: Effect.DENY,
        actions,
        resources: ['*'],
        // Present only on calls with the credentials that the code is given.
        conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
      }),
    );
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason:
        'Lambda attaches the function with these calls, most of which take no other resource, and to interfaces ' +
        'whose ids nobody knows in advance. The next statement denies them to the code.',
    });
  }
}
