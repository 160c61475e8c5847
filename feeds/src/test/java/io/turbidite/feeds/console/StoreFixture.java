package io.turbidite.feeds.console;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A store as {@code /v1/stores/NAME} tells it, made up. <em>Confined to one thread.</em> */
final class StoreFixture {
    private static final long MIB = 1 << 20;

    private final String name;
    private final String dataset;
    private final List<String> indexes;
    private final List<List<Map<String, Object>>> beds = new ArrayList<>();
    private final List<Map<String, Object>> events = new ArrayList<>();
    private long last;
    private long flushed;
    private long files;
    private long memoryBytes = 2 * MIB;

    StoreFixture(String name, String dataset, List<String> indexes) {
        this.name = name;
        this.dataset = dataset;
        this.indexes = indexes;
        indexes.forEach(_ -> beds.add(new ArrayList<>()));
    }

    /** A store with five levels of beds, dead entries, and some that repair has not checked. */
    static StoreFixture grown() {
        return grown("by_place");
    }

    /** The same, with another name of its third index. */
    static StoreFixture grown(String third) {
        StoreFixture store = new StoreFixture(
                "reef", "Tweets", List.of("primary", "by_user", third, "by_text", "by_time"));
        long[] spans = {400_000, 120_000, 42_000, 11_000, 9_000, 3_000, 2_500};
        for (long span : spans) {
            store.flush(span);
        }
        store.write(1_200);
        return store;
    }

    void write(long operations) {
        last += operations;
    }

    /** Writes operations and puts them on disk. */
    void flush(long operations) {
        last += operations;
        for (int i = 0; i < indexes.size(); i++) {
            Map<String, Object> bed = new LinkedHashMap<>();
            bed.put("minTs", flushed + 1);
            bed.put("maxTs", last);
            bed.put("file", ++files);
            bed.put("bytes", (last - flushed) * (i == 0 ? 480 : 34 + 11L * i));
            bed.put("entries", last - flushed);
            bed.put("antimatter", i * 3);
            bed.put("deadEntries", i == 1 ? (last - flushed) * beds.get(i).size() / 16 : 0);
            bed.put("repairedTs", i == 1 && beds.get(i).size() > 3 ? flushed : last);
            bed.put(
                    "filters",
                    List.of(Map.of(
                            "field",
                            "at",
                            "min",
                            "2026-11-%02dT00:00:00Z".formatted(1 + beds.get(i).size() * 2),
                            "max",
                            "2026-11-%02dT12:00:00Z".formatted(3 + beds.get(i).size() * 2),
                            "hasAbsent",
                            false)));
            beds.get(i).addFirst(bed);
        }
        flushed = last;
    }

    /** The newest beds of each index become one. */
    void merge(int count) {
        for (List<Map<String, Object>> ofIndex : beds) {
            List<Map<String, Object>> merged = ofIndex.subList(0, count);
            Map<String, Object> bed = new LinkedHashMap<>(merged.getFirst());
            bed.put("minTs", merged.getLast().get("minTs"));
            bed.put("file", ++files);
            for (String sum : List.of("bytes", "entries")) {
                bed.put(
                        sum,
                        merged.stream()
                                .mapToLong(one -> ((Number) one.get(sum)).longValue())
                                .sum());
            }
            merged.clear();
            ofIndex.addFirst(bed);
        }
    }

    /** Numbers of the files of an index's beds, the newest first. */
    List<Long> filesOf(int index) {
        return beds.get(index).stream()
                .map(bed -> ((Number) bed.get("file")).longValue())
                .toList();
    }

    /** An event of this store. */
    Map<String, Object> event(String kind, String at, Object... fields) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("number", events.size() + 1);
        event.put("store", name);
        event.put("at", at);
        event.put("event", kind);
        for (int i = 0; i < fields.length; i += 2) {
            event.put(String.valueOf(fields[i]), fields[i + 1]);
        }
        events.add(event);
        return event;
    }

    Map<String, Object> described() {
        Map<String, Object> type = new LinkedHashMap<>();
        type.put("id", "int64");
        type.put("user", "string");
        type.put("at", "datetime");
        List<Map<String, Object>> described = new ArrayList<>();
        for (int i = 0; i < indexes.size(); i++) {
            Map<String, Object> index = new LinkedHashMap<>();
            index.put("name", indexes.get(i));
            index.put("kind", i == 2 ? "rtree" : i == 3 ? "inverted" : "btree");
            index.put("on", List.of(i == 0 ? "id" : indexes.get(i)));
            index.put("pageBytes", 16_384);
            index.put("compression", "none");
            index.put("unique", i == 0);
            index.put("maintenance", i == 1 ? "validation" : "eager");
            index.put("state", "ready");
            index.put("garbageEntries", 0);
            index.put("components", beds.get(i));
            index.put("deletedKeys", List.of());
            described.add(index);
        }
        Map<String, Object> store = new LinkedHashMap<>();
        store.put("store", "/data/" + name);
        store.put("name", name);
        store.put("lastTimestamp", last);
        store.put("watermark", last);
        store.put("logBytes", 3 * MIB);
        store.put("lastEvent", events.size());
        store.put("events", events);
        store.put("snapshots", List.of());
        store.put(
                "datasets",
                List.of(Map.of(
                        "name",
                        dataset,
                        "type",
                        type,
                        "primaryKey",
                        List.of("id"),
                        "filter",
                        List.of("at"),
                        "maintenance",
                        "eager",
                        "mergePolicy",
                        "tiering(sizeRatio=1.2)",
                        "partitions",
                        List.of(Map.of(
                                "partition",
                                0,
                                "flushedTs",
                                flushed,
                                "memoryEntries",
                                last - flushed,
                                "memoryBytes",
                                memoryBytes,
                                "indexes",
                                described)))));
        return store;
    }

    String name() {
        return name;
    }
}
