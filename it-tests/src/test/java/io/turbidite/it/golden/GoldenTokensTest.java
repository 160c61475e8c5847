package io.turbidite.it.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Stores with R-trees and with inverted indexes of each tokenizer. */
class GoldenTokensTest extends GoldenRows {
    private static final String LONG = "x".repeat(300);
    private static final List<String> WORDS =
            List.of("Late", "later", "fog", "caf\u00e9", "\uD801\uDC00y", "\u0001\u0002", LONG);

    GoldenTokensTest() {
        super(120);
    }

    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            names = {"EAGER", "VALIDATION", "MUTABLE_BITMAP"})
    void tokens_and_places_are_found_written_and_merged(
            Maintenance maintenance, @TempDir Path directory) throws IOException {
        goThrough(
                "golden/tokens-%s-v1.zip".formatted(maintenance.label()),
                spec(maintenance),
                directory);
    }

    /** Under other tables of Unicode than those of then an index of words is disabled. */
    @Override
    void opened(Dataset dataset) {
        List<String> ready =
                dataset.indexes().stream().map(index -> index.name()).toList();
        assertThat(ready).contains("by_place", "by_whole");
        for (String name : List.of("by_word", "by_pair")) {
            if (!ready.contains(name)) {
                dataset.enableIndex(name);
            }
        }
    }

    private static DatasetSpec spec(Maintenance maintenance) {
        return DatasetSpec.named("Golden")
                .field("id", "int64")
                .field("text", "string")
                .field("place", "point")
                .primaryKey("id")
                .maintenance(maintenance)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge"))
                .index(IndexSpec.rtree("by_place", "place"))
                .index(IndexSpec.inverted("by_word", "text"))
                .index(IndexSpec.inverted("by_whole", "text").withParameter("tokenizer", "keyword"))
                .index(IndexSpec.inverted("by_pair", "text")
                        .withParameter("tokenizer", "ngram(2)"));
    }

    @Override
    Map<String, Object> row(long id, int write) {
        return Map.of("id", id, "text", text(id, write), "place", new Point(id, write));
    }

    private static String text(long id, int write) {
        int words = WORDS.size();
        return WORDS.get((int) (id % words))
                + " "
                + WORDS.get((int) ((id / words + write) % words))
                + " n"
                + write;
    }

    @Override
    void check(Dataset dataset) {
        for (int write = 1; write <= 4; write++) {
            int put = write;
            check(
                    dataset,
                    "by_place",
                    Predicates.within("place", -1, put, 1e9, put),
                    (_, of) -> of == put);
            check(dataset, "by_word", Predicates.contains("text", "n" + put), (_, of) -> of == put);
            check(
                    dataset,
                    "by_whole",
                    Predicates.containsAll("text", Tokenizer.KEYWORD, text(7, put)),
                    (id, of) -> text(id, of).equals(text(7, put)));
        }
        check(
                dataset,
                "by_word",
                Predicates.containsPrefix("text", Tokenizer.WORD, "lat"),
                (id, of) -> text(id, of).contains("Late") || text(id, of).contains("later"));
        check(
                dataset,
                "by_word",
                Predicates.containsAny("text", Tokenizer.WORD, LONG + " fog"),
                (id, of) -> text(id, of).contains(LONG) || text(id, of).contains("fog"));
        check(
                dataset,
                "by_pair",
                Predicates.containsAll("text", Tokenizer.ngram(2), "\uD801\uDC28Y"),
                (id, of) -> text(id, of).contains("\uD801\uDC00y"));
        check(
                dataset,
                "by_pair",
                Predicates.editDistance("text", "lote fog n1", 1),
                (id, of) -> text(id, of).equals("Late fog n1"));
    }
}
