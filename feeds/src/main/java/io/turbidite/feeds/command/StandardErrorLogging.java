package io.turbidite.feeds.command;

import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Where the command's logs go: warnings and errors, of libraries too, to standard error, a line
 * each; nothing else anywhere. What matters to its user the command prints itself. Logback took
 * 0.35 s of CPU at each start, for its XML above all.
 *
 * <p>It is no registered service: an embedder's own logging is never touched. Who wants another for
 * the command sets {@code slf4j.provider} himself.
 */
@SuppressWarnings("exports") // types that SLF4J alone, which calls it, needs
public final class StandardErrorLogging implements SLF4JServiceProvider {
    private static final String PROVIDER_PROPERTY = "slf4j.provider";
    private static final String VERBOSITY_PROPERTY = "slf4j.internal.verbosity";

    private final ConcurrentMap<String, StandardErrorLogger> loggers = new ConcurrentHashMap<>();
    private final IMarkerFactory markers = new BasicMarkerFactory();
    private final MDCAdapter contexts = new NOPMDCAdapter();

    /** For SLF4J, which makes the only one. */
    public StandardErrorLogging() {}

    /** Has SLF4J take this one, if nobody chose another; before anything asks for a logger. */
    public static void install() {
        if (System.getProperty(PROVIDER_PROPERTY) == null) {
            System.setProperty(PROVIDER_PROPERTY, StandardErrorLogging.class.getName());
            // it would say on standard error which one it takes
            System.setProperty(VERBOSITY_PROPERTY, "WARN");
        }
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return name -> loggers.computeIfAbsent(name, StandardErrorLogger::new);
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public MDCAdapter getMDCAdapter() {
        return contexts;
    }

    @Override
    public @Nullable String getRequestedApiVersion() {
        return "2.0.99"; // any of the 2.0 line
    }

    @Override
    public void initialize() {
        // all is made with it
    }
}
