import * as z from 'zod';

/** An object whose unknown members are rejected with a message that names the known ones. */
export function members<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? `one of ${Object.keys(shape).join(', ')}` : undefined),
  });
}
