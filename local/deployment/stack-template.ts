import type * as z from 'zod';
import { identifyDeployed, identifyResource, type ResourceIdentity, type StackLocation } from './resource-identities';

/** A CloudFormation template as far as a local deployment reads it. Values are JSON with intrinsics. */
export interface Template {
  Resources: Record<string, TemplateResource>;
}

export interface TemplateResource {
  Type: string;
  Properties?: Record<string, unknown>;
  /** Name of the condition under which the resource exists. */
  Condition?: string;
}

/** What a local deployment asks for refers to something that it does not know. What it asks nothing of, such as an alarm, it passes over. */
export class UnsupportedTemplateError extends Error {
  override readonly name = 'UnsupportedTemplateError';
}

/** One resource of a template, with its properties resolved on reading. */
export interface StackResource {
  readonly logicalId: string;
  readonly type: string;
  readonly identity: ResourceIdentity;
  /**
   * The properties that the schema names, resolved. A strict schema rejects the others.
   * @param ignored names of properties without an effect on one's own machine: resolved, and left out
   * @throws UnsupportedTemplateError naming the resource, if an intrinsic or a property is not known
   */
  read<Schema extends z.ZodObject>(schema: Schema, ignored?: readonly string[]): z.output<Schema>;
}

/** A template whose values can be asked for as CloudFormation would deploy them. */
export class StackTemplate {
  readonly location: StackLocation;
  readonly #template: Template;
  readonly #identities = new Map<string, ResourceIdentity>();

  /** @param physicalIds of resources that are deployed, by logical id; the others get names that are made up */
  constructor(template: Template, location: StackLocation, physicalIds: ReadonlyMap<string, string> = new Map()) {
    this.#template = template;
    this.location = location;
    for (const [logicalId, physicalId] of physicalIds) {
      const identity = identifyDeployed(template.Resources[logicalId]?.Type ?? '', physicalId, location);
      if (identity !== undefined) this.#identities.set(logicalId, identity);
    }
  }

  /**
   * The resources of a type, in the template's order.
   * @throws UnsupportedTemplateError for a resource that exists under a condition only
   */
  resourcesOf(type: string): StackResource[] {
    return Object.entries(this.#template.Resources)
      .filter(([, { Type }]) => Type === type)
      .map(([logicalId, resource]) => this.#describe(logicalId, resource));
  }

  #describe(logicalId: string, { Type, Properties = {}, Condition }: TemplateResource): StackResource {
    if (Condition !== undefined)
      throw new UnsupportedTemplateError(
        `Cannot deploy ${logicalId} locally: it has the condition ${Condition}, and a local deployment knows none.`,
      );
    const identify = () => this.#identify(logicalId);
    return {
      logicalId,
      type: Type,
      get identity() {
        return identify();
      },
      read: (schema, ignored = []) => {
        // A strict schema sees the names of all properties; only those it names, and the ignored, need to be resolvable.
        const entries = Object.entries(Properties).map(([name, value]): [string, unknown] => [
          name,
          name in schema.shape || ignored.includes(name) ? this.#resolve(value, `${logicalId}.${name}`) : value,
        ]);
        const read = entries.filter(([name]) => !ignored.includes(name));
        const parsed = schema.safeParse(Object.fromEntries(read));
        if (parsed.success) return parsed.data;
        const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim());
        throw new UnsupportedTemplateError(`Cannot deploy ${logicalId} (${Type}) locally: ${problems.join('; ')}.`);
      },
    };
  }

  #identify(logicalId: string): ResourceIdentity {
    const known = this.#identities.get(logicalId);
    if (known !== undefined) return known;
    const resource = this.#template.Resources[logicalId];
    if (resource === undefined)
      throw new UnsupportedTemplateError(`Cannot resolve ${logicalId}: the template has no such resource.`);
    const identity = identifyResource(logicalId, resource.Type, this.location, (property) =>
      this.#resolve(resource.Properties?.[property], `${logicalId}.${property}`),
    );
    if (identity === undefined)
      throw new UnsupportedTemplateError(
        `Cannot name the resource ${logicalId}: a local deployment does not know the type ${resource.Type}.`,
      );
    this.#identities.set(logicalId, identity);
    return identity;
  }

  #resolve(value: unknown, where: string): unknown {
    if (Array.isArray(value)) return value.map((item, index) => this.#resolve(item, `${where}[${index}]`));
    if (!isObject(value)) return value;
    const [name, ...others] = Object.keys(value);
    if (name !== undefined && others.length === 0 && (name === 'Ref' || name.startsWith('Fn::')))
      return this.#resolveIntrinsic(name, value[name], where);
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, this.#resolve(member, `${where}.${key}`)]),
    );
  }

  #resolveIntrinsic(name: string, argument: unknown, where: string): unknown {
    const text = (value: unknown): string => {
      const resolved = this.#resolve(value, where);
      if (typeof resolved !== 'object') return String(resolved);
      throw new UnsupportedTemplateError(`Cannot resolve ${name} at ${where}: ${JSON.stringify(value)} is not text.`);
    };
    const parts = Array.isArray(argument) ? (argument as unknown[]) : [argument];
    switch (name) {
      case 'Ref':
        return this.#reference(text(argument));
      case 'Fn::GetAtt':
        return this.#attribute(parts.map(text).join('.'));
      case 'Fn::Join': {
        const [separator, items] = parts;
        return [items].flat().map(text).join(text(separator));
      }
      case 'Fn::Sub':
        return text(argument).replace(/\$\{([^}]+)\}/g, (_whole, name: string) => this.#reference(name));
      default:
        throw new UnsupportedTemplateError(`Cannot resolve ${name} at ${where}: a local deployment does not know it.`);
    }
  }

  #reference(name: string): string {
    const { accountId, region } = this.location;
    const pseudoParameters: Record<string, string> = {
      'AWS::AccountId': accountId,
      'AWS::Partition': 'aws',
      'AWS::Region': region,
      'AWS::URLSuffix': 'amazonaws.com',
    };
    return pseudoParameters[name] ?? this.#identify(name).ref;
  }

  /** @param path `<logical id>.<attribute>` */
  #attribute(path: string): string {
    const [logicalId = '', attribute] = path.split('.');
    const { arn } = this.#identify(logicalId);
    if (attribute === 'Arn') return arn;
    throw new UnsupportedTemplateError(
      `Cannot resolve Fn::GetAtt ${path}: a local deployment does not know this attribute of ${this.#template.Resources[logicalId]?.Type}.`,
    );
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
