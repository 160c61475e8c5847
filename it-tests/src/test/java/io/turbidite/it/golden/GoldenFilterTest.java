package io.turbidite.it.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.expr.Predicate;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * A store whose components have filters of the form before version 4: points ordered by x, then y,
 * and absent values that may stand for unknown ones. The release of then wrote its archive.
 */
class GoldenFilterTest extends GoldenRows {
    GoldenFilterTest() {
        super(200);
    }

    @Test
    void filters_of_the_form_before_are_read_and_merged(@TempDir Path directory)
            throws IOException {
        goThrough(
                "golden/filters-v3.zip",
                DatasetSpec.named("Golden")
                        .field("id", "int64")
                        .field("at", "datetime")
                        .field("place", "point?")
                        .field("n", "int32?")
                        .primaryKey("id")
                        .filter("at", "place", "n")
                        .mergePolicy(MergePolicySpec.parse("no-merge"))
                        .index(IndexSpec.rtree("by_place", "place"))
                        .index(IndexSpec.btree("by_n", "n")),
                directory);
    }

    @Override
    Map<String, Object> row(long id, int write) {
        Map<String, Object> row = new HashMap<>(Map.of("id", id));
        row.put("at", Instant.parse("2013-07-0%dT00:00:00Z".formatted(write)));
        if (!isAbsent(id)) {
            row.put("place", new Point(x(id), y(write)));
            row.put("n", write * 10);
        }
        return row;
    }

    private static boolean isAbsent(long id) {
        return id % 4 == 0;
    }

    private static double x(long id) {
        return id / 2.0;
    }

    private static double y(int write) {
        return 10 * write;
    }

    @Override
    void check(Dataset dataset) {
        for (int write = 1; write <= 4; write++) {
            int put = write;
            assertThat(count(dataset, Predicates.within("place", 0, y(put) - 1, 50, y(put) + 1)))
                    .as("y of write %d", put)
                    .isEqualTo(count((id, of) -> of == put && !isAbsent(id) && x(id) <= 50));
            assertThat(count(dataset, Predicates.eq("n", 10 * put)))
                    .as("n of write %d", put)
                    .isEqualTo(count((id, of) -> of == put && !isAbsent(id)));
        }
        assertThat(count(dataset, Predicates.within("place", -9, -9, 999, 5))).isZero();
        long absent = count((id, _) -> isAbsent(id));
        assertThat(count(dataset, Predicates.eq("n", null))).isEqualTo(absent);
        assertThat(count(dataset, Predicates.eq("place", null))).isEqualTo(absent);
    }

    /** By the scan and by the planner's choice, which must agree. */
    private static long count(Dataset dataset, Predicate predicate) {
        try (QueryResult chosen = Query.on(dataset).where(predicate).count().run();
                QueryResult scan =
                        Query.on(dataset).where(predicate).count().usingScan().run()) {
            long count = chosen.count();
            assertThat(scan.count()).isEqualTo(count);
            return count;
        }
    }
}
