package io.turbidite.feeds.command.common;

import io.turbidite.core.CacheFullException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.DamagedSourceException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.QuarantinedException;
import io.turbidite.core.QueryMemoryException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.feeds.DefinitionException;
import io.turbidite.feeds.DefinitionException.Problem;
import io.turbidite.feeds.ShellWord;
import io.turbidite.feeds.serve.SocketClient;

import org.jspecify.annotations.Nullable;

import java.io.PrintStream;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** Says what went wrong in one or two lines, and chooses the exit code. Static, without state. */
public final class Failures {
    private static final String NAME = "turbidite: ";
    private static final int MORE_PROBLEMS_MAX = 20;

    private Failures() {}

    /** Prints {@code failure} and returns the exit code. */
    public static int report(Throwable failure, PrintStream err, boolean debug) {
        return report(failure, err, debug, advice(failure));
    }

    /** The same with another advice, or none. */
    public static int report(
            Throwable failure, PrintStream err, boolean debug, @Nullable String advice) {
        if (debug) {
            failure.printStackTrace(err);
        }
        err.println(NAME + oneLine(what(failure)));
        if (advice != null) {
            err.println("  " + advice);
        }
        return failure instanceof InvalidRequestException
                        && !(failure instanceof StoreInUseException)
                ? ExitCode.USAGE
                : ExitCode.FAILED;
    }

    /**
     * The exit code of a load that came to its end: one that met records and took none has failed,
     * and says so.
     *
     * @param taken records that are now in their dataset or log
     */
    public static int codeOfLoad(long taken, long rejected, PrintStream err) {
        if (taken > 0 || rejected == 0) {
            return ExitCode.OK;
        }
        err.println(NAME
                + "no record was taken: %s rejected"
                        .formatted(
                                rejected == 1
                                        ? "the only one was"
                                        : "all %d were".formatted(rejected)));
        return ExitCode.FAILED;
    }

    public static String oneLine(String text) {
        return text.strip().replaceAll("\\s*\\R\\s*", " ");
    }

    private static String what(Throwable failure) {
        return switch (failure) {
            case DefinitionException e -> e.problems().getFirst().toString();
            case StorageException e -> String.valueOf(e.getMessage());
            case OutOfMemoryError e -> "out of memory: " + e.getMessage();
            default -> "internal error: " + failure;
        };
    }

    /** What to do about it; null if the message says so. */
    public static @Nullable String advice(Throwable failure) {
        return switch (failure) {
            case DefinitionException e -> moreProblems(e.problems());
            case StoreInUseException e ->
                isServed(e)
                        ? "that process runs %s meanwhile, and feeds if it is ./turbidite serve: ./turbidite feed start %s FEED.yaml; for all else wait until it has ended, or end it"
                                .formatted(
                                        String.join(", ", StoreAccess.SERVED),
                                        ShellWord.of(e.store()))
                        : "that process runs no commands for others: wait until it has ended, or end it";
            case InvalidRequestException e -> null;
            case CacheFullException e ->
                "run it again when fewer queries run, or raise store.cacheBytes";
            case QueryMemoryException e -> null; // the message says it
            case QuarantinedException e ->
                "./turbidite quarantine STORE lists what is set aside, and restores it from a backup";
            case DamagedSourceException e ->
                "put a sound copy of the source file in its place and run the command again: it goes on before the damage, of which nothing was loaded; a file that was made or compressed anew is another one, and taken if no record of this one was";
            case CorruptionException e ->
                "./turbidite verify STORE lists all damage; restore the store from a backup, or load it anew";
            case FormatVersionException e -> "use the version of turbidite that wrote the store";
            // else it was no failure of the store, and the message says what to do
            case StoreFailedException e when e.getCause() == null -> null;
            case StoreFailedException e ->
                "run the command again: opening the store recovers everything that was acknowledged";
            case StorageIoException e ->
                switch (e.kind()) {
                    case ACCESS_DENIED ->
                        "give this user the right to write there: even reading a store takes its lock";
                    case NO_SPACE ->
                        "free some space and run the command again: what was accepted is safe";
                    case TOO_MANY_FILES -> "raise the limit of open files (ulimit -n)";
                    case NOT_FOUND, ALREADY_EXISTS, IO, INTERRUPTED -> null;
                };
            case OutOfMemoryError e ->
                "give the JVM more: TURBIDITE_JAVA_OPTS=-Xmx4g ./turbidite …";
            default -> "this is a bug; --debug prints where";
        };
    }

    private static boolean isServed(StoreInUseException inUse) {
        try {
            return SocketClient.isServed(Path.of(inUse.store()));
        } catch (InvalidPathException noDirectory) {
            return false;
        }
    }

    /** Each with its reason, on a line of its own. */
    private static @Nullable String moreProblems(List<Problem> problems) {
        if (problems.size() == 1) {
            return null;
        }
        List<Problem> more = problems.subList(1, problems.size());
        String told = more.stream()
                .limit(MORE_PROBLEMS_MAX)
                .map(problem -> oneLine(problem.toString()))
                .collect(Collectors.joining(System.lineSeparator() + "  "));
        int left = more.size() - MORE_PROBLEMS_MAX;
        return told + (left > 0 ? "%n  and %d more".formatted(left) : "");
    }
}
