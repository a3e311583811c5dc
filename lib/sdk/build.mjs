import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import ts from 'typescript';

/*
 * Builds the package into `dist`: one ESM file with `core` bundled in, and the declarations of the public files, which
 * import nothing but each other. Takes well under a second; start, test and pack call it.
 */

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Files whose declarations are published, entry first. */
const PUBLIC = ['index', 'api', 'errors', 'public-functions'];

export async function buildSdk() {
  await build({
    entryPoints: [here('./index.ts')],
    outfile: here('./dist/index.js'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    legalComments: 'none',
    tsconfig: here('../../tsconfig.json'),
    logLevel: 'warning',
  });
  for (const name of PUBLIC) writeFileSync(here(`./dist/${name}.d.ts`), declarationsOf(name));
}

/** Declarations of one file, taken from its source alone; relative imports get the ending that Node's resolution wants. */
function declarationsOf(name) {
  const fileName = here(`./${name}.ts`);
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(readFileSync(fileName, 'utf8'), {
    fileName,
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      isolatedDeclarations: true,
      declaration: true,
    },
    reportDiagnostics: true,
  });
  if (diagnostics.length > 0) {
    throw new Error(
      ts.formatDiagnostics(diagnostics, {
        getCanonicalFileName: (f) => f,
        getCurrentDirectory: () => '',
        getNewLine: () => '\n',
      }),
    );
  }
  const imports = [...outputText.matchAll(/from '(\.[^']*)'/g)].map((match) => match[1]);
  for (const path of imports) {
    if (!PUBLIC.includes(path.slice(2)))
      throw new Error(`${name}.ts: its public declarations import ${path}, which is not published`);
  }
  return outputText.replace(/from '(\.[^']*)'/g, "from '$1.js'");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(here('./dist'), { recursive: true });
  await buildSdk();
}
