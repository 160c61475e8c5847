package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

/** What takes batches does take them: its records are not gone through one by one. */
class BatchesTakenTest {
    private static final int RECORDS = 2_000;
    private static final int KEYS = 50;

    private final MemorySource records = source("Records", "id", "of", "number");
    private final MemorySource kinds = source("Kinds", "kind", "weight", "place");

    private static MemorySource source(String name, String key, String... others) {
        RecordType.Builder type = RecordType.builder().field(key, "int64");
        for (String field : others) {
            type.field(field, "int64");
        }
        return new MemorySource(name, type.build(), List.of(key), List.of(), List.of(), 1);
    }

    @BeforeEach
    void fill() {
        for (long id = 0; id < RECORDS; id++) {
            records.upsert(Map.of("id", id, "of", id % KEYS, "number", id * 7 % 1_000));
        }
        for (long kind = 0; kind < KEYS; kind++) {
            kinds.upsert(Map.of("kind", kind, "weight", kind % 5, "place", kind % 3));
        }
    }

    @Test
    void counts_groups_and_sorts() {
        assertThat(oneByOne(all().where("number > 100").count())).isLessThan(RECORDS / 4);
        assertThat(oneByOne(all().groupBy("of").aggregate(Aggregate.sum("number"))))
                .isLessThan(RECORDS / 4);
        assertThat(oneByOne(all().orderBy("number"))).isLessThan(RECORDS / 4);
        assertThat(oneByOne(all().orderBy("number").limit(3))).isLessThan(RECORDS / 4);
    }

    @Test
    void inner_joins_whichever_side_is_held() {
        Query all = Query.on((Source) kinds);
        assertThat(oneByOne(grouped(Join.inner(all(), all).on("of", "kind"))))
                .isLessThan(RECORDS / 4);
        assertThat(oneByOne(grouped(Join.inner(all, all()).on("kind", "of"))))
                .isLessThan(RECORDS / 4);
    }

    /** So that the figure tells one from the other. */
    @Test
    void left_joins_do_not() {
        Join join = Join.left(all(), Query.on((Source) kinds)).on("of", "kind");
        assertThat(oneByOne(grouped(join))).isGreaterThan(RECORDS / 2);
    }

    private Query all() {
        return Query.on((Source) records);
    }

    private static Query grouped(Join join) {
        return Query.on(join).groupBy("place").aggregate(Aggregate.sum("number"));
    }

    private long oneByOne(Query query) {
        records.recordsOneByOne.set(0);
        try (QueryResult rows = query.run()) {
            assertThat(rows.count()).isPositive();
        }
        return records.recordsOneByOne.get();
    }
}
