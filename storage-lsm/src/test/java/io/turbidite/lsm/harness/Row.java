package io.turbidite.lsm.harness;

import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** A record of the test dataset, as the oracle knows it. */
public record Row(
        long id,
        @Nullable String user,
        @Nullable Integer score,
        @Nullable Instant created,
        String body) {
    /** The dataset that holds rows: two indexes and a filter. */
    public static DatasetSpec spec(String name) {
        return DatasetSpec.named(name)
                .field("id", "int64")
                .field("user", "string?")
                .field("score", "int32?")
                .field("created", "datetime?")
                .field("body", "string")
                .primaryKey("id")
                .filter("created")
                .index(IndexSpec.btree("by_user", "user"))
                .index(IndexSpec.btree("by_score", "score", "user"));
    }

    /** The same without anything that needs the old record. */
    public static DatasetSpec blindSpec(String name) {
        return DatasetSpec.named(name)
                .field("id", "int64")
                .field("user", "string?")
                .field("score", "int32?")
                .field("created", "datetime?")
                .field("body", "string")
                .primaryKey("id");
    }

    public Map<String, @Nullable Object> toMap() {
        Map<String, @Nullable Object> map = new HashMap<>();
        map.put("id", id);
        if (user != null) {
            map.put("user", user);
        }
        if (score != null) {
            map.put("score", score);
        }
        if (created != null) {
            map.put("created", created);
        }
        map.put("body", body);
        return map;
    }

    public static Row of(@Nullable Map<String, @Nullable Object> fields) {
        Map<String, @Nullable Object> map = Objects.requireNonNull(fields);
        return new Row(
                (Long) Objects.requireNonNull(map.get("id")),
                (String) map.get("user"),
                (Integer) map.get("score"),
                (Instant) map.get("created"),
                (String) Objects.requireNonNull(map.get("body")));
    }
}
