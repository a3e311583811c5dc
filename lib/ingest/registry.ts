import type { Importer } from '@/lib/usecases/ports';
import { langgraphImporter } from './langgraph/langgraph-importer';
import { nativeImporter } from './native/native-importer';
import { otlpImporter } from './otlp/otlp-importer';

/** Every format that an upload may have, in the order of asking. Adding one is a folder and a line here. */
export const importers: readonly Importer[] = [nativeImporter, langgraphImporter, otlpImporter];
