import { requireSupportedNode } from './node-version.mjs';

requireSupportedNode();
void import('./test-stages.mjs').then((module) => module.runStages(process.argv.slice(2)));
