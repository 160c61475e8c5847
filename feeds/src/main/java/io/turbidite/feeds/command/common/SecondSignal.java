package io.turbidite.feeds.command.common;

import io.turbidite.core.time.Clock;

import org.jline.utils.Signals;

import java.util.concurrent.TimeUnit;

/**
 * A process that is ending ends at once when it is told so again: who asks twice does not want to
 * wait for what is under way. The next opening recovers, as behind a kill. Static, without state.
 */
final class SecondSignal {
    /** Whoever stops a group of processes may reach one of them twice; people are slower. */
    private static final long SAME_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private SecondSignal() {}

    /** From now on; a shell's code for a process that a signal has ended, 128 and its number. */
    static void endsAtOnce() {
        Clock clock = Clock.system();
        long first = clock.monotonicNanos();
        halt("INT", 130, clock, first);
        halt("TERM", 143, clock, first);
    }

    private static void halt(String signal, int code, Clock clock, long first) {
        // where the JVM was told not to hear of signals (-Xrs), the system's way holds
        Signals.register(signal, () -> {
            if (clock.monotonicNanos() - first > SAME_NANOS) {
                Runtime.getRuntime().halt(code);
            }
        });
    }
}
