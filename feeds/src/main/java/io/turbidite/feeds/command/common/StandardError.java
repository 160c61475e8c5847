package io.turbidite.feeds.command.common;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Gives the process its standard error back. Static, without state.
 *
 * <p>The JVM remarks on the vector module, which the hash log's parser needs, in a line on standard
 * error, before any code of ours runs. So the launcher starts a log command with a pipe there, to a
 * filter of that one line, and the real one under another number; this puts the real one back
 * ({@code dup2}), whereupon the filter ends. What the JVM says before passes the filter, what comes
 * after goes its usual way.
 */
public final class StandardError {
    /** The real one's number; set by the launcher. */
    private static final String PROPERTY = "turbidite.stderr";

    private static final int NUMBER = 2;

    private StandardError() {}

    @SuppressWarnings("restricted") // the launcher allows native access
    public static void restore() {
        @Nullable Integer real = Integer.getInteger(PROPERTY);
        if (real == null) {
            return;
        }
        Linker linker = Linker.nativeLinker();
        MethodHandle dup2 = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("dup2"),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        try {
            int number = (int) dup2.invokeExact(real.intValue(), NUMBER);
            assert number == NUMBER : number; // else all goes on through the filter
        } catch (Throwable e) {
            throw new IllegalStateException("dup2", e);
        }
    }
}
