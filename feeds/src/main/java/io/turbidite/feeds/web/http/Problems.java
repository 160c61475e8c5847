package io.turbidite.feeds.web.http;

import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.turbidite.core.CacheFullException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.QueryMemoryException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.feeds.DefinitionException;
import io.turbidite.feeds.command.common.Failures;

import java.util.stream.Collectors;

/** What failures of a store mean in HTTP. Static, without state. */
public final class Problems {
    private Problems() {}

    /** The same words as the command has for it; each problem of a definition is a line. */
    public static Problem of(StorageException failure) {
        String what = Failures.oneLine(String.valueOf(failure.getMessage()));
        Problem problem = switch (failure) {
            case DefinitionException e -> {
                String lines = e.problems().stream()
                        .map(one -> Failures.oneLine(one.toString()))
                        .collect(Collectors.joining("\n"));
                yield Problem.of(400, lines);
            }
            case InvalidRequestException e -> Problem.of(400, what);
            case CacheFullException e -> Problem.of(503, what).retry(1);
            case QueryMemoryException e -> Problem.of(503, what).retry(1);
            case StoreFailedException e -> Problem.of(503, what);
            case StorageIoException e
            when e.kind() == StorageIoException.Kind.NO_SPACE ->
                Problem.of(503, what).retry(10);
            default -> Problem.of(500, what);
        };
        return failure instanceof DefinitionException
                ? problem // which has all that the command has in its advice
                : problem.advise(Failures.advice(failure));
    }

    /** Of a request that is none. */
    static Problem malformed(Throwable broken) {
        return switch (broken) {
            case TooLongHttpLineException e -> Problem.of(414, "the first line is too long");
            case TooLongHttpHeaderException e -> Problem.of(431, "the headers are too long");
            default -> Problem.of(400, "this is no request of HTTP/1.1");
        };
    }
}
