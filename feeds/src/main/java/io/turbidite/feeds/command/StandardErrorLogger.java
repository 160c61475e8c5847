package io.turbidite.feeds.command;

import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

import java.io.Serial;

/** A line for each warning or error: level, simple name, message, then the causes by name. */
final class StandardErrorLogger extends LegacyAbstractLogger {
    @Serial
    private static final long serialVersionUID = 1;

    private static final int CAUSES_MAX = 8;

    StandardErrorLogger(String name) {
        this.name = name;
    }

    @Override
    public boolean isTraceEnabled() {
        return false;
    }

    @Override
    public boolean isDebugEnabled() {
        return false;
    }

    @Override
    public boolean isInfoEnabled() {
        return false;
    }

    @Override
    public boolean isWarnEnabled() {
        return true;
    }

    @Override
    public boolean isErrorEnabled() {
        return true;
    }

    @Override
    protected @Nullable String getFullyQualifiedCallerName() {
        return null;
    }

    @Override
    protected void handleNormalizedLoggingCall(
            Level level,
            @Nullable Marker marker,
            String message,
            Object @Nullable [] arguments,
            @Nullable Throwable failure) {
        StringBuilder line = new StringBuilder()
                .append(level == Level.WARN ? "WARN  " : "ERROR ")
                .append(name, name.lastIndexOf('.') + 1, name.length())
                .append(": ")
                .append(MessageFormatter.basicArrayFormat(message, arguments));
        Throwable cause = failure;
        for (int i = 0; cause != null && i < CAUSES_MAX; i++, cause = cause.getCause()) {
            line.append(i == 0 ? "; " : ", caused by ").append(cause);
        }
        System.err.println(line);
    }
}
