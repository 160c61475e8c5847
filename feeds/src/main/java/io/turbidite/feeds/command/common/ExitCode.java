package io.turbidite.feeds.command.common;

/** What a process of {@code ./turbidite} ends with. */
public final class ExitCode {
    public static final int OK = 0;
    public static final int FAILED = 1;
    public static final int USAGE = 2;

    /** 128 + SIGINT, as shells have it. */
    public static final int INTERRUPTED = 130;

    private ExitCode() {}
}
