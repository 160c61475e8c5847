package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.SourceKind;

import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;

/** A kind of source that an application has: {@code source: {kind: numbers, count: 100}}. */
public final class NumbersKind implements SourceKind {
    @Override
    public String name() {
        return "numbers";
    }

    @Override
    public Set<String> required() {
        return Set.of("count");
    }

    @Override
    public Set<String> optional() {
        return Set.of("partitions");
    }

    @Override
    public FeedSource open(Map<String, String> options, Path directory) {
        int count = Integer.parseInt(Objects.requireNonNull(options.get("count")));
        if (count < 0) {
            throw new InvalidRequestException("count must not be below 0");
        }
        int partitions = Integer.parseInt(options.getOrDefault("partitions", "1"));
        return new SimulatedSource(
                partitions,
                count / partitions,
                number -> "{\"id\":%d}".formatted(number),
                new SplittableRandom(1));
    }
}
