import type { AnchorHTMLAttributes } from 'react';

/** `next/link` where there is nothing to go to: the name stays, the link does not. Links within the run never come here. */
// biome-ignore lint/style/noDefaultExport: as Next's own module has it
export default function Link({
  href: _href,
  prefetch: _prefetch,
  ...props
}: AnchorHTMLAttributes<HTMLAnchorElement> & { readonly prefetch?: boolean }) {
  return <span {...props} data-unreachable="" />;
}
