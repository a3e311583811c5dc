/*
 * Loaded with `--import` into everything that `npm start` starts. The channel to the parent closes when the parent
 * dies, however it died (SIGKILL, a closed terminal): then this process ends in order too and leaves no orphan.
 */
process.channel?.unref();
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// It closed before anybody listened.
if (process.connected === false) process.kill(process.pid, 'SIGTERM');
