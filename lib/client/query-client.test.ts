import { MutationObserver, onlineManager } from '@tanstack/react-query';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newQueryClient } from './query-client';

describe('a browser that takes itself for offline', () => {
  beforeEach(() => onlineManager.setOnline(false));
  afterEach(() => onlineManager.setOnline(true));

  it('sends an order at once or not at all', async () => {
    const sent: string[] = [];
    const observer = new MutationObserver(newQueryClient(), {
      mutationFn: async (what: string) => sent.push(what),
    });
    const unsubscribe = observer.subscribe(() => undefined);
    void observer.mutate('order');
    await new Promise((resolve) => setImmediate(resolve));
    expect({ sent, paused: observer.getCurrentResult().isPaused }).toEqual({
      sent: ['order'],
      paused: false,
    });
    unsubscribe();
  });

  it('asks and is told at once', async () => {
    const client = newQueryClient();
    await expect(client.fetchQuery({ queryKey: ['x'], queryFn: async () => 'answer' })).resolves.toBe(
      'answer',
    );
  });
});
