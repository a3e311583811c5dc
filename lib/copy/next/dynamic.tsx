import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';

// biome-ignore-start lint/style/noDefaultExport: as Next's own module has it
// biome-ignore-start lint/correctness/noComponentHookFactories: called once for each module, as Next's is
/** `next/dynamic`: everything is in the file, and still comes after the first rows. */
export default function dynamic<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { loading }: { readonly ssr?: false; readonly loading: () => ReactNode },
): ComponentType<Props> {
  const Loaded = lazy(async () => ({ default: await load() }));
  return function Dynamic(props: Props) {
    return (
      <Suspense fallback={loading()}>
        <Loaded {...props} />
      </Suspense>
    );
  };
}
// biome-ignore-end lint/correctness/noComponentHookFactories: as above
// biome-ignore-end lint/style/noDefaultExport: as above
