package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.flow.SpillPlace;
import io.turbidite.feeds.parse.CsvFormat;
import io.turbidite.feeds.parse.Transform;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.SourceKind;
import io.turbidite.feeds.source.file.FileSource;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.schema.DatasetOptions;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * What a feed does, as its YAML file says: {@code docs/feed-definition.md} lists every key.
 * <em>Immutable.</em>
 *
 * <pre>{@code
 * FeedDefinition definition = FeedDefinition.load(Path.of("flights.yaml"));
 * try (Store store = Store.open(directory, definition.storeOptions());
 *         Feed feed = Feed.open(definition, store)) {
 *     FeedReport report = feed.run(FeedProgress.none());
 * }
 * }</pre>
 *
 * @param feed the feed's name; the store keeps its positions in the source under it
 * @param dataset where records go
 * @param source where records come from
 * @param format how records are written
 * @param transforms in the order of their evaluation
 * @param shape what becomes of a record besides
 * @param policy what it does while the source is faster than the store
 * @param workers how many threads may parse, each some partitions of the source; 1 to {@value
 *     #WORKERS_MAX}. By the policy {@link PolicyPart.Elastic} its bounds say so
 * @param mode what the feed does with each record
 * @param storeOptions how to open the store for the feed
 * @param origin where the parts of the definition are written
 */
public record FeedDefinition(
        String feed,
        DatasetPart dataset,
        SourcePart source,
        FormatPart format,
        List<Transform> transforms,
        ShapePart shape,
        PolicyPart policy,
        int workers,
        Mode mode,
        StoreOptions storeOptions,
        Origin origin) {
    /** The most parse workers of a feed. */
    public static final int WORKERS_MAX = 64;

    /** The most bytes of a definition; people write definitions by hand. */
    private static final int FILE_BYTES_MAX = 1 << 20;

    public FeedDefinition {
        transforms = List.copyOf(transforms);
    }

    /**
     * Reads a definition. Relative paths in it are relative to its file.
     *
     * @throws DefinitionException with every problem found, each with its line and key
     * @throws InvalidRequestException if there is no such file
     */
    public static FeedDefinition load(Path file) {
        return parse(file.toString(), file.toAbsolutePath().getParent(), read(file));
    }

    /**
     * Reads a definition from text.
     *
     * @param name by which problems call it
     * @param directory to which paths in it are relative; null for the current directory
     */
    public static FeedDefinition parse(String name, @Nullable Path directory, String yaml) {
        return parse(name, directory, yaml, path -> {});
    }

    /**
     * Reads a definition of somebody who may not name every path.
     *
     * @param name by which problems call it
     * @param directory to which paths in it are relative; null for the current directory
     * @param paths is asked about each path that an index names, before anything is looked for
     *     there; throws if it may not be named
     */
    public static FeedDefinition parse(
            String name, @Nullable Path directory, String yaml, Consumer<String> paths) {
        return new DefinitionReader(name, directory == null ? Path.of("") : directory, paths)
                .read(YamlTree.read(name, yaml));
    }

    /** The specification from which the store creates the dataset. */
    public DatasetSpec toDatasetSpec() {
        return dataset.toSpec();
    }

    /** A problem with the value of {@code key} that shows only beside the store. */
    DefinitionException problem(String key, String message) {
        return new DefinitionException(List.of(origin.problem(key, message)));
    }

    /**
     * The text of a definition's file.
     *
     * @throws InvalidRequestException if there is no such file, or it is no text
     */
    public static String text(Path file) {
        return read(file);
    }

    static String read(Path file) {
        byte[] bytes;
        try {
            bytes = FileSource.readSmall(file, FILE_BYTES_MAX);
        } catch (StorageException e) {
            throw new InvalidRequestException(
                    "the feed definition can't be read: " + e.getMessage(), e);
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new InvalidRequestException(file + " is not UTF-8 text: no feed definition", e);
        }
    }

    /**
     * Which records a record of the source becomes.
     *
     * @param explode a member whose elements each make a record; null: none
     * @param where a condition that a record of the dataset must satisfy to be taken; null: none
     */
    public record ShapePart(
            @Nullable String explode, @Nullable String where) {
        /** Each becomes one. */
        public static final ShapePart NONE = new ShapePart(null, null);
    }

    /** What the feed does while its source is faster than the store. */
    public sealed interface PolicyPart {
        /** The source waits. */
        record Basic() implements PolicyPart {}

        /**
         * Records are left out.
         *
         * @param percentMax of all records of a run, 1 to 99
         * @param keptOneIn so many of those that may be left out have one that is not
         */
        record Discard(int percentMax, int keptOneIn) implements PolicyPart {}

        /**
         * The source waits, and parse workers come and go with the load.
         *
         * @param workersMin at least 1
         * @param workersMax more than that, at most {@link #WORKERS_MAX}
         */
        record Elastic(int workersMin, int workersMax) implements PolicyPart {}

        /**
         * Batches wait in files; when those are full the source waits.
         *
         * @param bytesMax of the files, at least {@link SpillPlace#BYTES_MIN}
         */
        record Spill(long bytesMax) implements PolicyPart {}

        /**
         * No more than so many records a second are taken, sampled evenly over their keys.
         *
         * @param recordsPerSecond at least 1
         */
        record Throttle(int recordsPerSecond) implements PolicyPart {}
    }

    /** The effect of each record on the dataset. */
    public enum Mode {
        /** It replaces the record with its key, if there is one. */
        UPSERT,
        /** It is rejected if its key is taken. */
        INSERT,
        /** It deletes the record with its key; only the key's fields are read. */
        DELETE
    }

    /**
     * The dataset of the feed, created if the store has none of its name.
     *
     * @param type the declared fields
     * @param filters the fields whose least and greatest value each component keeps
     * @param options how the store keeps it
     */
    public record DatasetPart(
            String name,
            RecordType type,
            List<String> primaryKey,
            List<String> filters,
            int partitions,
            DatasetOptions options,
            List<IndexPart> indexes) {
        public DatasetPart {
            primaryKey = List.copyOf(primaryKey);
            filters = List.copyOf(filters);
            indexes = List.copyOf(indexes);
        }

        /** The specification from which the store creates it. */
        DatasetSpec toSpec() {
            DatasetSpec spec = DatasetSpec.named(name)
                    .primaryKey(primaryKey.toArray(String[]::new))
                    .filter(filters.toArray(String[]::new))
                    .partitions(partitions)
                    .options(options);
            type.declared().forEach(spec::field);
            for (IndexPart index : indexes) {
                spec.index(new IndexSpec(
                        index.name,
                        index.kind,
                        index.on,
                        index.unique,
                        index.kind.isGiven() ? null : index.pages,
                        index.maintenance,
                        index.parameters));
            }
            return spec;
        }
    }

    /** An index over declared fields. */
    public record IndexPart(
            String name,
            IndexDescription.Kind kind,
            List<String> on,
            boolean unique,
            Maintenance maintenance,
            PageOptions pages,
            Map<String, String> parameters) {
        public IndexPart {
            parameters = Map.copyOf(parameters);
            on = List.copyOf(on);
        }
    }

    /**
     * Where records come from.
     *
     * @param kind the name of a {@link SourceKind}
     * @param options what the kind is to be told
     * @param directory to which paths in them are relative
     */
    public record SourcePart(String kind, Map<String, String> options, Path directory) {
        private static final String PATH = "path";

        public SourcePart {
            options = Map.copyOf(options);
        }

        /** A file, or the files of a directory. */
        public static SourcePart ofFile(Path path) {
            return new SourcePart(SourceKinds.FILE, Map.of(PATH, path.toString()), Path.of(""));
        }

        /**
         * The option {@code path}, resolved against the directory.
         *
         * @throws InvalidRequestException if the source has none
         */
        public Path resolved() {
            String path = options.get(PATH);
            if (path == null) {
                throw new InvalidRequestException(
                        "a source of kind %s has no path".formatted(kind));
            }
            return directory.resolve(path);
        }

        /** The files that it names beside the path: see {@link SourceKind#files}. */
        public List<String> files() {
            return SourceKinds.require(kind).files(options);
        }

        /** The key that problems of opening the source are told at. */
        String key() {
            return options.containsKey(PATH) ? "source.path" : "source";
        }

        /** Opens the source. */
        FeedSource open() {
            return SourceKinds.require(kind).open(options, directory);
        }
    }

    /** How records are written in the source. */
    public sealed interface FormatPart {
        /** Lines with separators. */
        record Csv(CsvFormat format) implements FormatPart {}

        /** JSON: one object a line. */
        record Json() implements FormatPart {}

        /** Object files of Avro, which have their schema with them. */
        record AvroFiles() implements FormatPart {}

        /**
         * Messages of Avro that name their schema by its ID in a registry.
         *
         * @param schemas for each ID the path of its file
         * @param directory to which the paths are relative
         */
        record AvroMessages(SortedMap<Integer, String> schemas, Path directory)
                implements FormatPart {
            public AvroMessages {
                schemas = Collections.unmodifiableSortedMap(new TreeMap<>(schemas));
            }

            @Override
            public List<String> files() {
                return List.copyOf(schemas.values());
            }
        }

        /** Whether records are Avro. */
        default boolean isAvro() {
            return this instanceof AvroFiles || this instanceof AvroMessages;
        }

        /** The files that it names; relative to the definition. */
        default List<String> files() {
            return List.of();
        }
    }

    /**
     * The places of a definition's parts.
     *
     * @param file as the caller gave it
     * @param lineByKey the line of each key, with the keys above it; "" is the first
     */
    public record Origin(String file, Map<String, Integer> lineByKey) {
        public Origin {
            lineByKey = Map.copyOf(lineByKey);
        }

        /** A problem with the value of {@code key}. */
        DefinitionException.Problem problem(String key, String message) {
            return new DefinitionException.Problem(file, line(key), key, message);
        }

        /** The line of {@code key}, or of the nearest key above it in the file. */
        public int line(String key) {
            for (String k = key; ; k = k.substring(0, Math.max(0, k.lastIndexOf('.')))) {
                Integer line = lineByKey.get(k);
                if (line != null || k.isEmpty()) {
                    return line == null ? 1 : line;
                }
            }
        }
    }
}
