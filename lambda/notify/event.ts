import * as z from 'zod/mini';

/** What Lambda sends about an event that it gave up (Lambda developer guide, "Adding a destination"). */
export const droppedEvent = z.object({
  requestContext: z.object({ functionArn: z.string(), condition: z.string(), approximateInvokeCount: z.number() }),
  requestPayload: z.unknown(),
  responsePayload: z.nullish(z.object({ errorType: z.nullish(z.string()), errorMessage: z.nullish(z.string()) })),
});

export type DroppedEvent = z.output<typeof droppedEvent>;

/** What EventBridge sends about an execution of a state machine that has ended. */
export const endedExecution = z.object({
  detail: z.object({
    stateMachineArn: z.string(),
    name: z.string(),
    status: z.string(),
    input: z.nullish(z.string()),
    error: z.nullish(z.string()),
    cause: z.nullish(z.string()),
  }),
});
export type EndedExecution = z.output<typeof endedExecution>;
