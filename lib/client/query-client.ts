import { QueryClient } from '@tanstack/react-query';
import { problemOf } from './api';

export const newQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        // A browser that takes itself for offline may still reach a console on its own machine; and what it cannot
        // reach fails at once and says so, instead of being held back and sent when nobody expects it any more.
        networkMode: 'always',
        staleTime: 2_000,
        // A refusal will not change by asking again; a console that does not answer may come back.
        retry: (failures, error) => problemOf(error).status === 0 && failures < 3,
      },
      mutations: { networkMode: 'always' },
    },
  });
