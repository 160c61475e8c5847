package io.turbidite.feeds.command.common;

import io.turbidite.core.task.ExitHook;

/** How the user asks a running command to stop: Ctrl-C, or a test. */
@FunctionalInterface
public interface Interrupts {
    /**
     * Whoever has asked to stop waits no longer than that for a device: two seconds with all the
     * rest.
     */
    long WAIT_MICROS_MAX = 1_500_000;

    /**
     * Watches until closed; close it when everything is said and done.
     *
     * @param stop asks the work to end soon; called at most once, by any thread
     */
    Watch watch(Runnable stop);

    /** Being watched. */
    interface Watch extends AutoCloseable {
        /** Whether the user has asked. */
        boolean interrupted();

        /** A process that was asked to stop ends with this code, not with that of the signal. */
        default void endWith(int code) {}

        @Override
        void close();
    }

    /** Ctrl-C and SIGTERM of this process; at the second one it ends at once. */
    static Interrupts ofProcess() {
        return stop -> {
            ExitHook hook = ExitHook.install(() -> {
                SecondSignal.endsAtOnce();
                stop.run();
            });
            return new Watch() {
                @Override
                public boolean interrupted() {
                    return hook.requested();
                }

                @Override
                public void endWith(int code) {
                    hook.endWith(code);
                }

                @Override
                public void close() {
                    hook.close();
                }
            };
        };
    }

    /** Nobody asks. */
    static Interrupts none() {
        return stop -> new Watch() {
            @Override
            public boolean interrupted() {
                return false;
            }

            @Override
            public void close() {
                // nothing is held
            }
        };
    }
}
