import NextLink from 'next/link';
import type { ComponentProps } from 'react';

/**
 * A link to a page of the console, without Next's fetching ahead: every page is made for the one that asks, so that each
 * link in sight would cost the console a rendering that nobody may look at, while the page itself still loads.
 */
export function Link(props: Omit<ComponentProps<typeof NextLink>, 'prefetch'>) {
  return <NextLink {...props} prefetch={false} />;
}
