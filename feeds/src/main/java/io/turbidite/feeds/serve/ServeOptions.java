package io.turbidite.feeds.serve;

/**
 * Bounds of a server. <em>Immutable.</em>
 *
 * @param commandCountMax commands that run at a time; further ones wait
 * @param waitingCountMax commands that wait; further ones are refused
 * @param waitMillisMax a command that has waited for so long is refused
 * @param requestMillisMax a client that has not sent its whole command by then is let go
 * @param writeMillisMax a client that takes no output for so long is let go, and its command
 *     stopped
 * @param unsentBytesMax output that waits for a client; its command waits beyond that
 */
public record ServeOptions(
        int commandCountMax,
        int waitingCountMax,
        long waitMillisMax,
        long requestMillisMax,
        long writeMillisMax,
        int unsentBytesMax) {
    /**
     * 8 commands, 56 more that wait for up to a minute; 10 seconds for the command line, a minute
     * for output; 256 KiB a client.
     */
    public static ServeOptions defaults() {
        return new ServeOptions(8, 56, 60_000, 10_000, 60_000, 256 << 10);
    }

    /** Clients that may be there at a time. */
    int connectionCountMax() {
        return commandCountMax + waitingCountMax;
    }
}
