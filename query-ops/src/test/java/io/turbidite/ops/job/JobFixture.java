package io.turbidite.ops.job;

import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.MemorySource;

import org.jspecify.annotations.Nullable;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

/** Two datasets for jobs: flights on four partitions, and airports. */
public final class JobFixture {
    static final RecordType FLIGHT = RecordType.builder()
            .field("id", "int64")
            .field("dest", "string")
            .field("tail", "string?")
            .field("delay", "int32?")
            .field("words", "[string]?")
            .build();

    private JobFixture() {}

    static MemorySource flights(int count) {
        return flights(count, 4, _ -> true);
    }

    /** Those of the flights whose number is chosen. */
    static MemorySource flights(int count, int partitions, IntPredicate chosen) {
        MemorySource flights = new MemorySource(
                "Flights",
                FLIGHT,
                List.of("id"),
                List.of(),
                List.of(new IndexDescription(
                        "by_dest", IndexDescription.Kind.BTREE, List.of("dest"), true)),
                partitions);
        for (int i = 0; i < count; i++) {
            if (!chosen.test(i)) {
                continue;
            }
            Map<String, @Nullable Object> flight = new LinkedHashMap<>();
            flight.put("id", (long) i);
            flight.put("dest", "D" + i * 7 % 13);
            if (i % 5 != 0) {
                flight.put("tail", "N" + i % 17);
            }
            if (i % 3 != 0) {
                flight.put("delay", i * 31 % 101 - 20);
            }
            flights.upsert(flight);
        }
        return flights;
    }

    static MemorySource airports() {
        return airports(3, _ -> true);
    }

    /** Those of the airports whose number is chosen. */
    static MemorySource airports(int partitions, IntPredicate chosen) {
        RecordType type = RecordType.builder()
                .field("code", "string")
                .field("city", "string?")
                .build();
        MemorySource airports = new MemorySource(
                "Airports", type, List.of("code"), List.of(), List.of(), partitions);
        for (int i = 0; i < 10; i++) {
            if (!chosen.test(i)) {
                continue;
            }
            airports.upsert(Map.of("code", "D" + i, "city", "City " + i % 4));
        }
        return airports;
    }

    public static JobParts parts(int flights) {
        return JobParts.of(List.of(flights(flights), airports()));
    }

    public static JobOperator scan(String name, int partitions) {
        return JobOperator.of(name, "scan").with("dataset", "Flights").on(partitions);
    }

    public static JobOperator result() {
        return JobOperator.of("out", "result");
    }

    /** Scans on some partitions, groups by destination on some, merges into the result. */
    public static JobGraph groups(JobParts parts, int scans, int groups) {
        return JobGraph.builder(parts)
                .add(scan("flights", scans).with("where", "delay > 0"))
                .add(JobOperator.of("groups", "group")
                        .with("by", List.of("dest"))
                        .with("aggregates", List.of("count", "sum(delay) as late", "max(id)"))
                        .on(groups))
                .add(result())
                .connect(JobConnector.hash("flights", "groups", "dest"))
                .connect(JobConnector.merging("groups", "out", "dest"))
                .build();
    }
}
