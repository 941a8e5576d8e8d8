import * as z from 'zod/mini';

/** When something starts, as configurations, plans and seals say it. */
export const scheduleSchema = z.object({
  /** EventBridge Scheduler's cron expression. */
  expression: z.string(),
  /** IANA name. */
  timeZone: z.string(),
  enabled: z.boolean(),
});

export type Schedule = Readonly<z.infer<typeof scheduleSchema>>;
