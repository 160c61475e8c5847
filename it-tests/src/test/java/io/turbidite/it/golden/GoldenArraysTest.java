package io.turbidite.it.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A store with records of version 2, arrays and nested records, with indexes on their elements; and
 * its files with flipped bytes.
 */
class GoldenArraysTest extends GoldenRows {
    private static final String ARCHIVE = "golden/arrays-v1.zip";
    private static final List<String> TAGS = List.of("late fog", "late", "", "caf\u00e9", "snow");

    /** Flipped bytes of each file. */
    private static final int FLIPS = Tier.count(2, 8, 400);

    GoldenArraysTest() {
        super(120);
    }

    private static DatasetSpec spec() {
        return DatasetSpec.named("Golden")
                .field("id", "int64")
                .field("tags", "[string]?")
                .field(
                        "author",
                        "{name: string?, scores: [int32]?, since: datetime, home: {place: point?}?}?")
                .field("flags", "[bool]")
                .primaryKey("id")
                .filter("author.since")
                .maintenance(Maintenance.VALIDATION)
                .mergePolicy(MergePolicySpec.parse("no-merge"))
                .index(IndexSpec.btree("by_tag", "tags[]"))
                .index(IndexSpec.inverted("by_word", "tags[]"))
                .index(IndexSpec.btree("by_score", "author.scores[]", "author.name"));
    }

    @Test
    void arrays_and_nested_records_are_found_written_and_merged(@TempDir Path directory)
            throws IOException {
        goThrough(ARCHIVE, spec(), directory);
    }

    @Override
    Map<String, Object> row(long id, int write) {
        Map<String, Object> row = new HashMap<>(Map.of("id", id, "flags", flags(id, write)));
        List<String> tags = tags(id, write);
        if (tags != null) {
            row.put("tags", tags);
        }
        if (hasAuthor(id)) {
            Map<String, Object> author = new HashMap<>();
            author.put("since", since(write));
            author.put("scores", scores(id, write));
            if (id % 3 != 0) {
                author.put("name", "ann" + id % 4);
            }
            row.put("author", author);
        }
        return row;
    }

    private static List<Boolean> flags(long id, int write) {
        return Stream.iterate(id % 2 == 0, flag -> !flag).limit(write * 3L).toList();
    }

    /** None of every ninth; often one of them twice. */
    private static @Nullable List<String> tags(long id, int write) {
        if (id % 9 == 0) {
            return null;
        }
        String first = TAGS.get((int) (id % TAGS.size()));
        String second = TAGS.get((int) ((id + write) % TAGS.size()));
        return List.of(first, second, "w" + write, first);
    }

    private static boolean hasTag(long id, int write, String tag) {
        List<String> tags = tags(id, write);
        return tags != null && tags.contains(tag);
    }

    private static boolean hasAuthor(long id) {
        return id % 7 != 0;
    }

    private static List<Integer> scores(long id, int write) {
        return id % 11 == 0 ? List.of() : List.of((int) id % 5, 10 * write, (int) id % 5);
    }

    private static Instant since(int write) {
        return Instant.parse("2013-07-0%dT00:00:00Z".formatted(write));
    }

    @Override
    void check(Dataset dataset) {
        for (int write = 1; write <= 4; write++) {
            int put = write;
            check(
                    dataset,
                    "by_tag",
                    Predicates.eq("tags[]", "w" + put),
                    (id, of) -> hasTag(id, of, "w" + put));
            check(
                    dataset,
                    "by_score",
                    Predicates.eq("author.scores[]", 10 * put),
                    (id, of) -> hasAuthor(id) && scores(id, of).contains(10 * put));
        }
        check(
                dataset,
                "by_tag",
                Predicates.range("tags[]", "late", "late fog"),
                (id, of) -> hasTag(id, of, "late") || hasTag(id, of, "late fog"));
        check(
                dataset,
                "by_word",
                Predicates.contains("tags[]", "fog late"),
                (id, of) -> hasTag(id, of, "late fog"));
        for (Map.Entry<Long, Integer> row : rows.entrySet()) {
            Map<String, @Nullable Object> found =
                    Objects.requireNonNull(dataset.get(row.getKey()), "no " + row.getKey());
            assertThat(found).isEqualTo(row(row.getKey(), row.getValue()));
        }
    }

    /** Wherever a bit flips, the store says so or answers as it should; it never answers wrong. */
    @Test
    void a_flipped_byte_is_told_or_changes_nothing(@TempDir Path directory) throws IOException {
        flip(ARCHIVE, FLIPS, directory);
    }
}
