/** Its answers take so long, in milliseconds, that an attempt of one second is always killed. */
export const slowMs = 3000;
export const slowCluster = 'sandbox-slow';

/** What the list of clusters from outside has. */
export const clusters: readonly string[] = ['sandbox-one', 'sandbox-two', slowCluster];
