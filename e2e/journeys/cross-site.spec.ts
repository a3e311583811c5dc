import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestWorker } from '@/lib/testing/api-client';
import { expect, test } from '../fixtures/guarded';

/* Another site's page, in the browser of somebody who is signed in, tries what pages can try. */

test('another site’s page can neither give an order, nor read, nor frame the console', async ({
  guarded,
  page,
}) => {
  const { runId } = await TestWorker.create(guarded.api, { runId: 'attacked' });
  await page.goto('/sign-in');
  await guarded.signIn(page, 'Ada', 'admin');
  const other = createServer((_, res) => {
    res.setHeader('content-type', 'text/html');
    res.end('<title>another site</title><body></body>');
  });
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  const site = `http://localhost:${(other.address() as AddressInfo).port}/`;
  await page.goto(site);

  const target = `${guarded.url}/api/v1/runs/${runId}/commands`;
  const tried = await page.evaluate(
    async ({ url, api }) => {
      const order = JSON.stringify({ commandId: 'forged', mode: 'cancel', reason: 'forged' });
      const tell = (asked: Promise<Response>) =>
        asked.then(
          (answer) => `${answer.type} ${answer.status}`,
          () => 'refused',
        );
      const json = { 'content-type': 'application/json' };
      const plain = { 'content-type': 'text/plain' };
      const with_ = { method: 'POST', credentials: 'include', body: order } as const;
      const answers = [
        await tell(fetch(url, { ...with_, headers: json })),
        await tell(fetch(url, { ...with_, headers: plain })),
        await tell(fetch(url, { ...with_, headers: plain, mode: 'no-cors' })),
        await tell(fetch(`${api}/api/v1/runs`, { credentials: 'include' })),
        await tell(fetch(`${api}/api/v1/session`, { credentials: 'include', method: 'DELETE' })),
      ];
      const beacon = navigator.sendBeacon(url, new Blob([order], { type: 'text/plain' }));
      const stream = await new Promise<string>((resolve) => {
        const listening = new EventSource(`${api}/api/v1/stream`, { withCredentials: true });
        listening.onopen = () => resolve('open');
        listening.onerror = () => {
          listening.close();
          resolve('refused');
        };
      });
      const loaded = (tag: 'img' | 'script', src: string) =>
        new Promise<string>((resolve) => {
          const element = document.createElement(tag);
          element.onload = () => resolve('loaded');
          element.onerror = () => resolve('refused');
          element.src = src;
          document.body.append(element);
        });
      return {
        answers,
        beacon,
        stream,
        image: await loaded('img', `${api}/icon.svg`),
        script: await loaded('script', `${api}/api/v1/runs`),
      };
    },
    { url: target, api: guarded.url },
  );
  expect(tried).toMatchObject({
    answers: ['refused', 'refused', 'refused', 'refused', 'refused'],
    stream: 'refused',
    image: 'refused',
    script: 'refused',
  });

  // A form needs no script to be allowed: it navigates.
  const posted = page.waitForResponse((response) => response.url() === target);
  await page.evaluate((url) => {
    const form = document.createElement('form');
    Object.assign(form, { action: url, method: 'post', enctype: 'text/plain' });
    const field = document.createElement('input');
    Object.assign(field, { name: '{"commandId":"forged","mode":"cancel","reason":"', value: '"}' });
    form.append(field);
    document.body.append(form);
    form.submit();
  }, target);
  expect((await posted).status()).toBe(403);
  await page.waitForURL(target);

  await page.goto(site);
  await page.evaluate((url) => {
    const frame = document.createElement('iframe');
    frame.src = `${url}/runs`;
    document.body.append(frame);
    return new Promise((resolve) => frame.addEventListener('load', resolve));
  }, guarded.url);
  const frame = page.frames().find((one) => one !== page.mainFrame());
  expect(await frame?.getByRole('navigation').count()).toBe(0);

  const run = await guarded.api.get(`/api/v1/runs/${runId}/events?kinds=command.accepted`);
  expect(run.body.items).toEqual([]);
  await page.goto(`/runs/${runId}`);
  await expect(page.getByRole('button', { name: /^Sign out / })).toBeVisible();
  other.close();
});
