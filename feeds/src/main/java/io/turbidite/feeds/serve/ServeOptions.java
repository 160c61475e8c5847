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
 * @param sessionCountMax conversations of JDBC that are open at a time, beside commands; further
 *     ones are refused
 */
public record ServeOptions(
        int commandCountMax,
        int waitingCountMax,
        long waitMillisMax,
        long requestMillisMax,
        long writeMillisMax,
        int unsentBytesMax,
        int sessionCountMax) {
    /** Without conversations. */
    public ServeOptions(
            int commandCountMax,
            int waitingCountMax,
            long waitMillisMax,
            long requestMillisMax,
            long writeMillisMax,
            int unsentBytesMax) {
        this(
                commandCountMax,
                waitingCountMax,
                waitMillisMax,
                requestMillisMax,
                writeMillisMax,
                unsentBytesMax,
                0);
    }

    /**
     * 8 commands, 56 more that wait for up to a minute; 10 seconds for the command line, a minute
     * for output; 256 KiB a client; 32 conversations.
     */
    public static ServeOptions defaults() {
        return new ServeOptions(8, 56, 60_000, 10_000, 60_000, 256 << 10, 32);
    }

    /** Clients that may be there at a time. */
    int connectionCountMax() {
        return commandCountMax + waitingCountMax + sessionCountMax;
    }
}
