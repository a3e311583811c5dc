import { refundDesk } from '@/lib/demo/refund-desk';
import { defineAgent } from '@/lib/sdk/index';

/*
 * The demo's refund desk, to be killed. The module is loaded as `desk.mjs?as=NAME`: its agents then go by that name, so
 * that each run has workers of its own and no worker takes another one's run.
 */

const as = new URL(import.meta.url).searchParams.get('as') ?? 'chaos';

export const desk = defineAgent({ ...refundDesk, name: `${as}-desk` });
