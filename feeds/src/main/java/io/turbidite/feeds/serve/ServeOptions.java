package io.turbidite.feeds.serve;

/**
 * Bounds of a server. <em>Immutable.</em>
 *
 * @param connectionCountMax further clients are told to come again
 * @param requestMillisMax a client that has not sent its whole command by then is let go
 * @param writeMillisMax a client that takes no output for so long is let go, and its command stopped
 * @param unsentBytesMax output that waits for a client; its command waits beyond that
 */
public record ServeOptions(
        int connectionCountMax, long requestMillisMax, long writeMillisMax, int unsentBytesMax) {
    /** 8 clients; 10 seconds for the command line, a minute for output; 256 KiB a client. */
    public static ServeOptions defaults() {
        return new ServeOptions(8, 10_000, 60_000, 256 << 10);
    }
}
