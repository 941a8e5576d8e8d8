import type * as z from 'zod';
import { identifyResource, type ResourceIdentity, type StackLocation } from './resource-identities';
import { type Template, type TemplateResource, UnsupportedTemplateError } from './template';

/** One resource of a template, with its properties resolved on reading. */
export interface StackResource {
  readonly logicalId: string;
  readonly type: string;
  readonly identity: ResourceIdentity;
  /**
   * The properties that the schema names, resolved. A strict schema rejects the others.
   * @throws UnsupportedTemplateError naming the resource, if an intrinsic or a property is not known
   */
  read<Schema extends z.ZodObject>(schema: Schema): z.output<Schema>;
}

/** A template of which every value can be asked for as CloudFormation would deploy it. */
export class StackTemplate {
  private readonly identities = new Map<string, ResourceIdentity>();

  constructor(
    private readonly template: Template,
    readonly location: StackLocation,
  ) {}

  /** The resources of a type whose conditions hold, in the template's order. */
  resourcesOf(type: string): StackResource[] {
    return Object.entries(this.template.Resources)
      .filter(([, { Type, Condition }]) => Type === type && (Condition === undefined || this.holds(Condition)))
      .map(([logicalId, resource]) => this.describe(logicalId, resource));
  }

  /** Outputs by logical id. */
  outputs(): Record<string, string> {
    return Object.fromEntries(
      Object.entries(this.template.Outputs ?? {})
        .filter(([, { Condition }]) => Condition === undefined || this.holds(Condition))
        .map(([id, { Value }]) => [id, String(this.resolve(Value, `Outputs.${id}`))]),
    );
  }

  private describe(logicalId: string, { Type, Properties = {} }: TemplateResource): StackResource {
    const stack = this;
    return {
      logicalId,
      type: Type,
      get identity() {
        return stack.identify(logicalId);
      },
      read(schema) {
        // A strict schema sees the names of all properties; only those it names need to be resolvable.
        const entries = Object.entries(Properties).map(([name, value]) => [
          name,
          name in schema.shape ? stack.resolve(value, `${logicalId}.${name}`) : value,
        ]);
        const parsed = schema.safeParse(Object.fromEntries(entries.filter(([, value]) => value !== undefined)));
        if (parsed.success) return parsed.data;
        const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim());
        throw new UnsupportedTemplateError(`Cannot deploy ${logicalId} (${Type}) locally: ${problems.join('; ')}.`);
      },
    };
  }

  private identify(logicalId: string): ResourceIdentity {
    const known = this.identities.get(logicalId);
    if (known !== undefined) return known;
    const resource = this.template.Resources[logicalId];
    if (resource === undefined)
      throw new UnsupportedTemplateError(`Cannot resolve ${logicalId}: the template has no such resource.`);
    const identity = identifyResource(logicalId, resource.Type, this.location, (property) =>
      this.resolve(resource.Properties?.[property], `${logicalId}.${property}`),
    );
    this.identities.set(logicalId, identity);
    return identity;
  }

  /** `undefined` stands for AWS::NoValue. */
  private resolve(value: unknown, where: string): unknown {
    if (Array.isArray(value))
      return value.map((item, index) => this.resolve(item, `${where}[${index}]`)).filter((item) => item !== undefined);
    if (!isObject(value)) return value;
    const [name, ...others] = Object.keys(value);
    if (name !== undefined && others.length === 0 && isIntrinsic(name, value[name]))
      return this.resolveIntrinsic(name, value[name], where);
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, member]) => [key, this.resolve(member, `${where}.${key}`)])
        .filter(([, member]) => member !== undefined),
    );
  }

  private resolveIntrinsic(name: string, argument: unknown, where: string): unknown {
    const text = (value: unknown): string => {
      const resolved = this.resolve(value, where);
      if (typeof resolved !== 'object' && resolved !== undefined) return String(resolved);
      throw new UnsupportedTemplateError(`Cannot resolve ${name} at ${where}: ${JSON.stringify(value)} is no text.`);
    };
    const list = (value: unknown): unknown[] => {
      const resolved = this.resolve(value, where);
      if (Array.isArray(resolved)) return resolved;
      throw new UnsupportedTemplateError(`Cannot resolve ${name} at ${where}: ${JSON.stringify(value)} is no list.`);
    };
    const truth = (value: unknown): boolean => this.resolve(value, where) === true;
    const parts = Array.isArray(argument) ? (argument as unknown[]) : [argument];
    switch (name) {
      case 'Ref':
        return this.reference(text(argument));
      case 'Condition':
        return this.holds(String(argument));
      case 'Fn::GetAtt': {
        const [logicalId = '', ...attribute] =
          typeof argument === 'string' ? argument.split('.') : parts.map((part) => text(part));
        return this.attribute(logicalId, attribute.join('.'));
      }
      case 'Fn::Join':
        return list(parts[1]).map(text).join(text(parts[0]));
      case 'Fn::Sub': {
        const variables = isObject(parts[1]) ? parts[1] : {};
        return text(parts[0]).replace(/\$\{(!?)([^}]+)\}/g, (_whole, literal: string, variable: string) => {
          if (literal !== '') return `\${${variable}}`;
          if (variable in variables) return text(variables[variable]);
          const [logicalId = '', ...attribute] = variable.split('.');
          return String(
            attribute.length === 0 ? this.reference(logicalId) : this.attribute(logicalId, attribute.join('.')),
          );
        });
      }
      case 'Fn::Select':
        return list(parts[1])[Number(text(parts[0]))];
      case 'Fn::Split':
        return text(parts[1]).split(text(parts[0]));
      case 'Fn::If':
        return this.resolve(this.holds(text(parts[0])) ? parts[1] : parts[2], where);
      case 'Fn::Equals':
        return text(parts[0]) === text(parts[1]);
      case 'Fn::And':
        return parts.every(truth);
      case 'Fn::Or':
        return parts.some(truth);
      case 'Fn::Not':
        return !truth(parts[0]);
      case 'Fn::FindInMap': {
        const [map = '', first = '', second = ''] = parts.map(text);
        const found = this.template.Mappings?.[map]?.[first]?.[second];
        if (found !== undefined) return found;
        throw new UnsupportedTemplateError(`Cannot resolve ${name} at ${where}: no ${map}.${first}.${second}.`);
      }
      default:
        throw new UnsupportedTemplateError(`Cannot resolve ${name} at ${where}: a local deployment does not know it.`);
    }
  }

  private reference(name: string): unknown {
    const { accountId, region, stackName } = this.location;
    const pseudoParameters: Record<string, string | undefined> = {
      'AWS::AccountId': accountId,
      'AWS::NoValue': undefined,
      'AWS::Partition': 'aws',
      'AWS::Region': region,
      'AWS::StackId': `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/local`,
      'AWS::StackName': stackName,
      'AWS::URLSuffix': 'amazonaws.com',
    };
    if (name in pseudoParameters) return pseudoParameters[name];
    const parameter = this.template.Parameters?.[name];
    if (parameter !== undefined) return parameter.Default;
    return this.identify(name).ref;
  }

  private attribute(logicalId: string, attribute: string): string {
    const value = this.identify(logicalId).attributes[attribute];
    if (value !== undefined) return value;
    throw new UnsupportedTemplateError(
      `Cannot resolve Fn::GetAtt ${logicalId}.${attribute}: a local deployment does not know this attribute of ${this.template.Resources[logicalId]?.Type}.`,
    );
  }

  private holds(condition: string): boolean {
    const definition = this.template.Conditions?.[condition];
    if (definition === undefined)
      throw new UnsupportedTemplateError(
        `Cannot resolve the condition ${condition}: the template has none of that name.`,
      );
    return this.resolve(definition, `Conditions.${condition}`) === true;
  }
}

/** A policy statement has a member `Condition` too, but never a text. */
function isIntrinsic(name: string, argument: unknown): boolean {
  return name === 'Ref' || name.startsWith('Fn::') || (name === 'Condition' && typeof argument === 'string');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
