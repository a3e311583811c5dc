/*
 * Preloaded into the console of the pictures: its clock stands at `RERAIL_FROZEN_AT` (epoch ms) and goes where the
 * parent sends it, so that every time on a page is the same in every picture. Timers go on.
 */
let now = Number(process.env.RERAIL_FROZEN_AT);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  // Next wraps Date and takes over what is its own, not what it inherits.
  static parse = RealDate.parse;
  static UTC = RealDate.UTC;

  constructor(...given) {
    if (given.length === 0) super(now);
    else super(...given);
  }

  static now() {
    return now;
  }
};

process.on('message', (message) => {
  now = message.now;
  process.send({ moved: now });
});
process.channel.unref();
