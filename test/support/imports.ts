import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseSync } from '@swc/core';

/** One file uses another, or a package. Files are named from the project's root: `lambda/collect/event.ts`. */
export interface Import {
  readonly from: string;
  /** A file of the project, or what is installed or built in: `@aws-sdk/client-s3`, `node:fs`. */
  readonly to: string;
  readonly isFile: boolean;
  /** Whether only types are used, so that nothing is loaded. */
  readonly typeOnly: boolean;
}

/**
 * Every import of every TypeScript file below some folders: static, dynamic, of types, and re-exports.
 * @throws Error naming an import of a file that does not exist
 */
export function readImports(root: string, folders: readonly string[]): Import[] {
  return folders.flatMap((folder) => filesBelow(root, folder)).flatMap((from) => importsOf(root, from));
}

function filesBelow(root: string, folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
}

function importsOf(root: string, from: string): Import[] {
  return specifiersIn(readFileSync(join(root, from), 'utf8')).map(({ specifier, typeOnly }) => {
    if (!specifier.startsWith('.')) return { from, to: specifier, isFile: false, typeOnly };
    const path = posix.join(posix.dirname(from), specifier);
    const to = [`${path}.ts`, path, `${path}/index.ts`].find((file) =>
      statSync(join(root, file), { throwIfNoEntry: false })?.isFile(),
    );
    if (to === undefined) throw new Error(`Reading the imports of ${from} failed: there is no file ${path}`);
    return { from, to, isFile: true, typeOnly };
  });
}

/** What a text imports, as it names it. A name that is computed is not found. */
export function specifiersIn(text: string): { specifier: string; typeOnly: boolean }[] {
  return nodesIn(parseSync(text, { syntax: 'typescript', target: 'es2022' })).flatMap((node) => {
    const { specifiers = [] } = node;
    const typeOnly =
      node.typeOnly === true ||
      node.type === 'TsImportType' ||
      (specifiers.length > 0 && specifiers.every(({ isTypeOnly }) => isTypeOnly === true));
    const specifier = sourceOf(node)?.value;
    return typeof specifier === 'string' ? [{ specifier, typeOnly }] : [];
  });
}

/** What is read of a node of the syntax tree. */
interface SyntaxNode {
  readonly type?: string;
  readonly value?: unknown;
  readonly typeOnly?: boolean;
  readonly specifiers?: readonly { readonly isTypeOnly?: boolean }[];
  readonly source?: SyntaxNode | null;
  readonly argument?: SyntaxNode;
  readonly expression?: SyntaxNode;
  readonly callee?: SyntaxNode;
  readonly arguments?: readonly { readonly expression: SyntaxNode }[];
}

function sourceOf(node: SyntaxNode): SyntaxNode | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return node.source ?? undefined;
    case 'TsImportType':
      return node.argument;
    case 'TsExternalModuleReference':
      return node.expression;
    case 'CallExpression':
      return node.callee?.type === 'Import' || node.callee?.value === 'require'
        ? node.arguments?.[0]?.expression
        : undefined;
    default:
      return undefined;
  }
}

function nodesIn(tree: object): SyntaxNode[] {
  const children = Object.values(tree).filter((child) => typeof child === 'object' && child !== null);
  return [tree, ...children.flatMap(nodesIn)];
}
