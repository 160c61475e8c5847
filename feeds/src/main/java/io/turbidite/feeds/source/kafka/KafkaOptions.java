package io.turbidite.feeds.source.kafka;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What a definition says of a source of this kind. <em>Immutable.</em>
 *
 * @param bootstrap brokers to begin with, {@code host:port, …}
 * @param topics their names; empty if there is a pattern
 * @param pattern of names of topics, by RE2; null if there are names
 * @param group of consumers
 * @param member of the group whose partitions wait for it while it is away; null: none
 * @param start where a partition is begun of which nothing was taken
 * @param onGap what is done where offsets are gone
 * @param fields what else of a message becomes fields
 * @param settings of the client, as they are written
 */
record KafkaOptions(
        String bootstrap,
        List<String> topics,
        @Nullable String pattern,
        String group,
        @Nullable String member,
        Start start,
        OnGap onGap,
        MessageFields fields,
        Map<String, String> settings) {
    private static final String BOOTSTRAP = "bootstrap";
    private static final String GROUP = "group";
    private static final String TOPICS = "topics";
    private static final String PATTERN = "pattern";
    private static final String MEMBER = "member";
    private static final String START = "start";
    private static final String ON_GAP = "onGap";
    private static final String KEY = "key";
    private static final String KEY_FORMAT = "keyFormat";

    /** Long enough for any that people write; a row's key has room for it. */
    private static final int GROUP_CHARS_MAX = 200;

    private static final Pattern TOPIC = Pattern.compile("[A-Za-z0-9._-]{1,249}");

    static final Set<String> REQUIRED = Set.of(BOOTSTRAP, GROUP);
    static final Set<String> OPTIONAL = Set.of(
            TOPICS,
            PATTERN,
            MEMBER,
            START,
            ON_GAP,
            KEY,
            KEY_FORMAT,
            "timestamp",
            "headers",
            "partition",
            "offset",
            "topic");

    KafkaOptions {
        topics = List.copyOf(topics);
        settings = Map.copyOf(settings);
    }

    /** Where a partition is begun of which nothing was taken. */
    sealed interface Start {
        /** At the first message that there is. */
        record Earliest() implements Start {}

        /** Behind the last one. */
        record Latest() implements Start {}

        /** At the first one whose timestamp is not before. */
        record Time(long epochMillis) implements Start {}
    }

    /** What is done where offsets are gone. */
    enum OnGap {
        FAIL,
        EARLIEST,
        LATEST;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** What can be said of one option by itself. */
    static void check(String key, String value) {
        switch (key) {
            case START -> start(value);
            case ON_GAP -> onGap(value);
            case KEY_FORMAT -> MessageFields.keyFormat(value);
            case TOPICS -> topics(value);
            case GROUP -> {
                if (value.isEmpty() || value.length() > GROUP_CHARS_MAX) {
                    throw new InvalidRequestException(
                            "a group has 1 to %d characters".formatted(GROUP_CHARS_MAX));
                }
            }
            case BOOTSTRAP -> {
                for (String broker : value.split(",", -1)) {
                    if (!broker.strip().matches("[^:\\s]+:\\d{1,5}|\\[[0-9a-fA-F:]+]:\\d{1,5}")) {
                        throw new InvalidRequestException(
                                "'%s' is no broker, host:port".formatted(broker.strip()));
                    }
                }
            }
            default -> {}
        }
    }

    /**
     * The options of a definition.
     *
     * @throws InvalidRequestException saying what is wrong
     */
    static KafkaOptions of(Map<String, String> options) {
        options.forEach(ClientSettings::check);
        options.forEach(KafkaOptions::check);
        String topics = options.get(TOPICS);
        String pattern = options.get(PATTERN);
        if ((topics == null) == (pattern == null)) {
            throw new InvalidRequestException("a source of kind kafka has topics or a pattern");
        }
        Map<String, String> settings = new TreeMap<>(options);
        settings.keySet().retainAll(ClientSettings.names());
        return new KafkaOptions(
                options.getOrDefault(BOOTSTRAP, ""),
                topics == null ? List.of() : topics(topics),
                pattern,
                options.getOrDefault(GROUP, ""),
                options.get(MEMBER),
                start(options.getOrDefault(START, "earliest")),
                onGap(options.getOrDefault(ON_GAP, "fail")),
                MessageFields.of(options),
                settings);
    }

    private static List<String> topics(String value) {
        List<String> topics = Arrays.stream(value.split(",", -1))
                .map(String::strip)
                .distinct()
                .toList();
        for (String topic : topics) {
            if (!TOPIC.matcher(topic).matches()) {
                throw new InvalidRequestException("'%s' is no name of a topic".formatted(topic));
            }
        }
        return topics;
    }

    private static Start start(String value) {
        return switch (value) {
            case "earliest" -> new Start.Earliest();
            case "latest" -> new Start.Latest();
            default -> {
                try {
                    yield new Start.Time(Instant.parse(value).toEpochMilli());
                } catch (DateTimeParseException | ArithmeticException e) {
                    throw new InvalidRequestException(
                            "'%s' is not earliest, latest, or a time such as 2026-11-29T08:00:00Z"
                                    .formatted(value),
                            e);
                }
            }
        };
    }

    private static OnGap onGap(String value) {
        for (OnGap way : OnGap.values()) {
            if (way.word().equals(value)) {
                return way;
            }
        }
        throw new InvalidRequestException("'%s' is not fail, earliest or latest".formatted(value));
    }
}
