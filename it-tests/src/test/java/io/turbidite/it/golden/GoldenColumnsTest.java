package io.turbidite.it.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Tier;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.Compression;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * Stores of component format 5, whose leaf pages have columns narrow to the bit and whose inverted
 * indexes have a Bloom filter of tokens: every kind of index, with and without compression; and
 * their files with flipped bytes.
 */
class GoldenColumnsTest extends GoldenRows {
    /** Flipped bytes of each file. */
    private static final int FLIPS = Tier.count(1, 4, 400);

    GoldenColumnsTest() {
        super(600);
    }

    private static DatasetSpec spec(Compression compression) {
        return DatasetSpec.named("Golden")
                .field("id", "int64")
                .field("at", "datetime")
                .field("name", "string")
                .field("text", "string")
                .field("tags", "[string]")
                .field("place", "point")
                .field("area", "rectangle")
                .primaryKey("id")
                .filter("at")
                .maintenance(Maintenance.EAGER)
                .mergePolicy(MergePolicySpec.parse("no-merge"))
                .components(ComponentOptions.primary()
                        .withPageBytes(4 << 10)
                        .withCompression(compression))
                .index(IndexSpec.btree("by_name", "name"))
                .index(IndexSpec.btree("by_tag", "tags[]"))
                .index(IndexSpec.rtree("by_place", "place"))
                .index(IndexSpec.rtree("by_area", "area"))
                .index(IndexSpec.inverted("by_word", "text").withParameter("tokenizer", "keyword"));
    }

    @ParameterizedTest
    @EnumSource
    void every_kind_of_index_is_read_written_and_merged(
            Compression compression, @TempDir Path directory) throws IOException {
        goThrough(archive(compression), spec(compression), directory);
    }

    /** Wherever a bit flips, the store says so or answers as it should; it never answers wrong. */
    @Test
    void a_flipped_byte_is_told_or_changes_nothing(@TempDir Path directory) throws IOException {
        flip(archive(Compression.NONE), FLIPS, directory);
    }

    String archive(Compression compression) {
        return "golden/columns-%s-v1.zip".formatted(compression.label());
    }

    @Override
    Map<String, Object> row(long id, int write) {
        double x = id % 25 * 1.5 * (id % 50 == 0 ? 1e6 : 1);
        return Map.of(
                "id",
                id,
                "at",
                Instant.parse("2013-07-0%dT00:00:00Z".formatted(write)).plusSeconds(id),
                "name",
                "n" + id % 7 + "-" + write,
                "text",
                "text " + id % 40,
                "tags",
                List.of("t" + id % 11, "w" + write),
                "place",
                new Point(x, write + id / 1_000.0),
                "area",
                new Rectangle(x, write, x + id % 3, write + id % 5));
    }

    @Override
    void check(Dataset dataset) {
        for (int write = 1; write <= 4; write++) {
            int put = write;
            check(
                    dataset,
                    "by_name",
                    Predicates.eq("name", "n3-" + put),
                    (id, of) -> id % 7 == 3 && of == put);
            check(dataset, "by_tag", Predicates.eq("tags[]", "w" + put), (_, of) -> of == put);
            check(
                    dataset,
                    "by_place",
                    Predicates.within("place", -1, put, 1e9, put + 0.9),
                    (_, of) -> of == put);
            check(
                    dataset,
                    "by_area",
                    Predicates.within("area", -1, put + 0.5, 1e9, put + 0.75),
                    (id, of) -> of <= put && of + id % 5 >= put + 0.5);
        }
        check(
                dataset,
                "by_word",
                Predicates.containsAll("text", Tokenizer.KEYWORD, "text 7"),
                (id, _) -> id % 40 == 7);
        rows.forEach((id, write) -> assertThat(dataset.get(id)).isEqualTo(row(id, write)));
    }
}
