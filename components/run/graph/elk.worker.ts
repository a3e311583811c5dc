// elkjs' worker registers itself on `self` when it runs in a worker.
import 'elkjs/lib/elk-worker.min.js';
