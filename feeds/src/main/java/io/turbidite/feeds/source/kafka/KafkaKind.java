package io.turbidite.feeds.source.kafka;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.SourceKind;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** {@code source: {kind: kafka, …}}: topics of a Kafka cluster. */
public final class KafkaKind implements SourceKind {
    /** In definitions. */
    public static final String NAME = "kafka";

    /** Made by {@link java.util.ServiceLoader}. */
    public KafkaKind() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Set<String> required() {
        return KafkaOptions.REQUIRED;
    }

    @Override
    public Set<String> optional() {
        Set<String> names = new TreeSet<>(ClientSettings.names());
        names.addAll(KafkaOptions.OPTIONAL);
        return names;
    }

    @Override
    public void check(String key, String value) {
        ClientSettings.check(key, value);
        KafkaOptions.check(key, value);
    }

    @Override
    public List<String> files(Map<String, String> options) {
        List<String> files = new ArrayList<>();
        options.forEach((key, value) -> {
            switch (Reference.of(value)) {
                case Reference.Content(String path) -> files.add(path);
                case Reference.Variable(String name) -> {
                    if (!name.startsWith(Reference.OPEN_VARIABLES)) {
                        throw new InvalidRequestException(
                                "source.%s: a definition that comes over the network refers to variables whose names begin with %s"
                                        .formatted(key, Reference.OPEN_VARIABLES));
                    }
                }
                case null -> {
                    if (ClientSettings.isFile(key)) {
                        files.add(value);
                    }
                }
            }
        });
        return files;
    }

    @Override
    public FeedSource open(Map<String, String> options, Path directory) {
        KafkaOptions read = KafkaOptions.of(options);
        try {
            return KafkaSource.of(read, directory);
        } catch (NoClassDefFoundError e) {
            throw new InvalidRequestException(
                    "a source of kind kafka needs the library org.apache.kafka:kafka-clients", e);
        }
    }
}
