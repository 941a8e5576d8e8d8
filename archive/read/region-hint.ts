import leven from 'leven';

/** Errors of a host that has no address. */
const withoutAddress = ['ENOTFOUND', 'EAI_AGAIN'];

/** Most letters that differ in a name that is offered. */
const mostOther = 3;

/**
 * What to say of a request to AWS whose host was not found: mostly its region is misspelt, which no request can tell. Regions
 * that came later than this version are not known here, so the name alone is not an error.
 * @returns undefined if it is another error, or its region is known
 */
export async function regionHint(error: unknown): Promise<string | undefined> {
  const { code = '', hostname = '' } = error as { code?: string; hostname?: string };
  if (!withoutAddress.includes(code)) return undefined;
  const region = /\.([a-z]+(?:-[a-z0-9]+)+)\.amazonaws\.com(?:\.cn)?$/.exec(hostname)?.[1];
  const unknown = region && (await describeUnknownRegion(region));
  return unknown && `${unknown}; check --region, deployTo.region, AWS_REGION and the profile`;
}

/** Says of a region that this version does not know it, and which one is near; undefined: it does. */
export async function describeUnknownRegion(region: string): Promise<string | undefined> {
  const { BucketLocationConstraint } = await import('@aws-sdk/client-s3');
  // The first of all regions is not in this list: a bucket there has no constraint.
  const known: string[] = ['us-east-1', ...Object.values(BucketLocationConstraint)];
  if (known.includes(region)) return undefined;
  const near = known
    .map((name) => ({ name, distance: leven(name, region) }))
    .sort((one, other) => one.distance - other.distance);
  const [nearest] = near;
  const offered = nearest !== undefined && nearest.distance <= mostOther ? ` (the nearest is ${nearest.name})` : '';
  return `${region} is not a region that this version knows${offered}`;
}
