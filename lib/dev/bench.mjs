import { requireSupportedNode } from './node-version.mjs';

requireSupportedNode();
void import('./bench-run.mjs').then((module) => module.runBench(process.argv.slice(2)));
