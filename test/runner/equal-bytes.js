/** Compares bytes at once: Jest takes them one by one, 4 ms for each thousand of them. */
expect.addEqualityTesters([
  (one, other) => (Buffer.isBuffer(one) && Buffer.isBuffer(other) ? one.equals(other) : undefined),
]);
