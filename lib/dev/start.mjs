import { requireSupportedNode } from './node-version.mjs';

requireSupportedNode();
void import('./start-console.mjs').then((module) => module.startConsole(process.argv.slice(2)));
