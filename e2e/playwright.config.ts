import { defineConfig } from '@playwright/test';

const chromium = process.env['RERAIL_CHROMIUM'];

/** `npm test` names the Chromium; run by hand, Playwright's own is taken: `npx playwright test --config=e2e/playwright.config.ts`. */
export default defineConfig({
  projects: [
    { name: 'journeys', testDir: './journeys' },
    {
      name: 'pictures',
      testDir: './pictures',
      // A film of what is compared anyway would take as long again.
      use: { deviceScaleFactor: 0.5, trace: 'off', screenshot: 'off' },
    },
  ],
  snapshotPathTemplate: '{testDir}/expected/{arg}{ext}',
  outputDir: '../test-results',
  fullyParallel: true,
  forbidOnly: process.env['CI'] !== undefined,
  retries: 0,
  // Every journey has a console, a worker and four services of its own.
  workers: 2,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: 'list',
  use: {
    viewport: { width: 1280, height: 720 },
    // Without its film: a trace has the page's DOM at every action, and Chromium need not paint each frame for a camera.
    trace: { mode: 'retain-on-failure', screenshots: false },
    screenshot: 'only-on-failure',
    launchOptions: {
      ...(chromium === undefined ? {} : { executablePath: chromium }),
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking'],
    },
  },
});
