package io.turbidite.ops.cluster;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.QueryMemoryException;
import io.turbidite.ops.job.HostedJobException;
import io.turbidite.ops.job.StaleJobException;

import org.apache.hyracks.api.exceptions.ErrorCode;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.exceptions.HyracksException;
import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Failures of tasks travel as text: no process makes objects of classes that another one names. The
 * text tells the class, the task, and what it says. Static, without state.
 */
final class Failures {
    private static final Pattern TEXT =
            Pattern.compile("\\{\\{(\\w+)\\|([^|]*)\\|(.*?)\\}\\}", Pattern.DOTALL);

    private static final int TEXT_CHARS_MAX = 4_000;
    private static final int CAUSES_MAX = 100;

    private Failures() {}

    /** What the engine is told of a failure of a task. */
    @SuppressWarnings("deprecation") // the engine's codes have none for us
    static HyracksDataException toEngine(String where, Throwable cause) {
        if (cause instanceof HyracksDataException ofEngine && isTold(ofEngine)) {
            return ofEngine;
        }
        Throwable says = cause instanceof HyracksException ? root(cause) : cause;
        HyracksDataException told = new HyracksDataException(text(where, says));
        // for the log of the node; a stack trace travels as text too
        told.setStackTrace(cause.getStackTrace());
        return told;
    }

    /** Whether it says where it was, or is an order to end. */
    private static boolean isTold(HyracksDataException cause) {
        return found(cause) != null || root(cause) instanceof InterruptedException;
    }

    private static String text(String where, Throwable cause) {
        String says = Objects.requireNonNullElse(cause.getMessage(), "").replace("}}", "} }");
        return "{{%s|%s|%s}}"
                .formatted(
                        cause.getClass().getSimpleName(),
                        where.replace('|', '/'),
                        says.substring(0, Math.min(says.length(), TEXT_CHARS_MAX)));
    }

    /** A failure on a node: what a task has told, or else what the engine met there. */
    static Throwable at(String node, Throwable cause) {
        if (found(cause) != null || isLostNode(cause)) {
            return cause;
        }
        return new ClusterException(text("node '%s'".formatted(node), root(cause)), cause);
    }

    private static Throwable root(Throwable cause) {
        Throwable root = cause;
        for (int i = 0; i < CAUSES_MAX && root.getCause() != null; i++) {
            root = root.getCause();
        }
        return root;
    }

    /** Whether the engine says that a node is not there, or no more. */
    private static boolean isLostNode(Throwable cause) {
        return cause instanceof HyracksException of
                && of.matchesAny(ErrorCode.NODE_FAILED, ErrorCode.NO_SUCH_NODE);
    }

    /** What the reader of a result is thrown. */
    static RuntimeException ofJob(@Nullable Throwable told) {
        Matcher text = found(told);
        if (text == null && told instanceof HyracksException lost && isLostNode(lost)) {
            String where = "node '%s'".formatted(lost.getParams()[0]);
            return new HostedJobException(
                    where + " has left, or was silent for too long", where, "");
        }
        if (text == null) {
            return new HostedJobException(
                    "the job failed: " + (told == null ? "the engine does not say why" : told),
                    "",
                    "");
        }
        String kind = Objects.requireNonNull(text.group(1));
        String where = Objects.requireNonNull(text.group(2));
        String says = Objects.requireNonNull(text.group(3));
        return switch (kind) {
            case "InvalidRequestException" -> new InvalidRequestException(says);
            case "StaleJobException" -> new StaleJobException("%s: %s".formatted(where, says));
            case "QueryMemoryException" -> new QueryMemoryException(says);
            case "CancellationException" -> new CancellationException(says);
            default ->
                new HostedJobException("%s: %s: %s".formatted(where, kind, says), where, kind);
        };
    }

    /** The text of a task, in a failure or in what it was caused by or attached to it. */
    private static @Nullable Matcher found(@Nullable Throwable told) {
        Deque<Throwable> open = new ArrayDeque<>();
        Set<Throwable> seen = new HashSet<>();
        if (told != null) {
            open.add(told);
        }
        while (!open.isEmpty() && seen.size() < CAUSES_MAX) {
            Throwable next = open.remove();
            if (!seen.add(next)) {
                continue;
            }
            Matcher text = TEXT.matcher(Objects.requireNonNullElse(next.getMessage(), ""));
            if (text.find()) {
                return text;
            }
            if (next.getCause() != null) {
                open.add(next.getCause());
            }
            open.addAll(List.of(next.getSuppressed()));
        }
        return null;
    }
}
