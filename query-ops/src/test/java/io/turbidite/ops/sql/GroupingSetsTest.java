package io.turbidite.ops.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.MemorySource;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Random grouping sets against a statement for each set. */
class GroupingSetsTest {
    private static final List<String> KEYS = List.of("a", "b", "c");
    private static final String SUMMED =
            "count(*), count(v), sum(v), median(v), array_agg(v order by id)";

    private final MemorySource source = new MemorySource(
            "T",
            RecordType.builder()
                    .field("id", "int64")
                    .field("a", "string?")
                    .field("b", "int32?")
                    .field("c", "bool?")
                    .field("v", "int64?")
                    .build(),
            List.of("id"),
            List.of(),
            List.of(),
            2);

    private List<String> rows(String statement) {
        List<String> rows = new ArrayList<>();
        try (QueryResult result = Sql.on(source).statement(statement).run()) {
            while (result.next()) {
                List<String> cells = new ArrayList<>();
                for (int i = 0; i < result.rowType().fields().size(); i++) {
                    if (result.rowType().parent(i) < 0) {
                        cells.add(String.valueOf(result.row().get(i)));
                    }
                }
                rows.add(String.join("|", cells));
            }
        }
        rows.sort(null);
        return rows;
    }

    /** What one set has, with nulls for the keys that it leaves out. */
    private List<String> ofSet(int bits, String where) {
        StringBuilder columns = new StringBuilder();
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < KEYS.size(); i++) {
            boolean isIn = (bits >> i & 1) != 0;
            if (isIn) {
                keys.add(KEYS.get(i));
            }
            columns.append(isIn ? KEYS.get(i) : "cast(null as varchar)").append(", ");
        }
        int grouping = 0;
        for (int i = 0; i < KEYS.size(); i++) {
            grouping = grouping << 1 | (~bits >> i & 1);
        }
        return rows("select %s%s, %d from T where %s%s"
                .formatted(
                        columns,
                        SUMMED,
                        grouping,
                        where,
                        keys.isEmpty() ? "" : " group by " + String.join(", ", keys)));
    }

    @Test
    void sets_have_the_rows_of_a_statement_for_each() {
        SplittableRandom random =
                new SplittableRandom(Seeds.of("GroupingSetsTest#sets_have_the_rows"));
        for (long id = 0; id < 60; id++) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            row.put("id", id);
            row.put("a", random.nextInt(4) == 0 ? null : "a" + random.nextInt(3));
            row.put("b", random.nextInt(4) == 0 ? null : random.nextInt(3));
            row.put("c", random.nextInt(4) == 0 ? null : random.nextBoolean());
            row.put("v", random.nextInt(4) == 0 ? null : random.nextLong(100));
            source.upsert(row);
        }
        for (int i = 0; i < 12; i++) {
            String where = random.nextInt(4) == 0 ? "id < 0" : "id >= " + random.nextInt(30);
            List<String> expected = new ArrayList<>();
            List<String> sets = new ArrayList<>();
            // the first has all keys, so that each may stand beside the aggregates
            int chosen = 1 << 7 | random.nextInt(1 << 7);
            for (int bits = 0; bits < 8; bits++) {
                if ((chosen >> bits & 1) != 0) {
                    expected.addAll(ofSet(bits, where));
                    List<String> keys = new ArrayList<>();
                    for (int k = 0; k < KEYS.size(); k++) {
                        if ((bits >> k & 1) != 0) {
                            keys.add(KEYS.get(k));
                        }
                    }
                    sets.add("(" + String.join(", ", keys) + ")");
                }
            }
            expected.sort(null);
            String statement =
                    "select a, b, c, %s, grouping(a, b, c) from T where %s group by grouping sets (%s)"
                            .formatted(SUMMED, where, String.join(", ", sets));
            assertThat(rows(statement)).as(statement).isEqualTo(expected);
        }
        assertThat(source.openCount).hasValue(0);
    }
}
