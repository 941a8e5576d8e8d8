/** A CloudFormation template as far as a local deployment reads it. Values are JSON with intrinsics. */
export interface Template {
  Resources: Record<string, TemplateResource>;
  Parameters?: Record<string, { Default?: unknown }>;
  Mappings?: Record<string, Record<string, Record<string, unknown>>>;
  Conditions?: Record<string, unknown>;
  Outputs?: Record<string, { Value: unknown; Description?: string; Condition?: string }>;
}

export interface TemplateResource {
  Type: string;
  Properties?: Record<string, unknown>;
  /** Name of the condition under which the resource exists. */
  Condition?: string;
}

/** The template needs something that a local deployment does not know; it is never left out silently. */
export class UnsupportedTemplateError extends Error {
  override readonly name = 'UnsupportedTemplateError';
}
