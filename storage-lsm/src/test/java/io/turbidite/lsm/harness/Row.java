package io.turbidite.lsm.harness;

import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
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

    /**
     * Of a dataset whose records may have a place, an area, tags and a nested author; tests that
     * count bytes have none.
     */
    public static DatasetSpec withPlaces(DatasetSpec spec) {
        return spec.field("place", "point?")
                .field("area", "rectangle?")
                .field("tags", "[string]?")
                .field("author", "{name: string?, scores: [int32]?}?");
    }

    /** With an index of each kind: two R-trees, words, and a B+-tree on elements. */
    public static DatasetSpec everyKindSpec(String name) {
        return withPlaces(spec(name))
                .index(IndexSpec.rtree("by_place", "place"))
                .index(IndexSpec.rtree("by_area", "area"))
                .index(IndexSpec.inverted("by_word", "body"))
                .index(IndexSpec.btree("by_tag", "tags[]"));
    }

    /** The fields that a dataset of that type declares. */
    public Map<String, @Nullable Object> toMap(RecordType type) {
        Map<String, @Nullable Object> map = toMap();
        if (type.indexOf("place") < 0) {
            return map;
        }
        Point place = place();
        if (place != null) {
            map.put("place", place);
        }
        Rectangle area = area();
        if (area != null) {
            map.put("area", area);
        }
        List<String> tags = tags();
        if (tags != null) {
            map.put("tags", tags);
        }
        if (user != null || score != null) {
            Map<String, @Nullable Object> author = new HashMap<>();
            author.put("name", user);
            if (score != null) {
                author.put("scores", scores());
            }
            map.put("author", author);
        }
        return map;
    }

    /** What lies between spaces in the body, often twice; none of an empty body. */
    public @Nullable List<String> tags() {
        return body.isEmpty()
                ? null
                : Arrays.stream(body.split(" ")).filter(tag -> !tag.isEmpty()).toList();
    }

    /** The score, what is left of it, and the score again; empty without a score. */
    public List<Integer> scores() {
        return score == null ? List.of() : List.of(score, score % 5, score);
    }

    /** Follows from other fields; most lie in a few places, some far away. None without a score. */
    public @Nullable Point place() {
        if (score == null) {
            return null;
        }
        double far = id % 17 == 0 ? 1e6 : 1;
        double y = user == null ? 0 : user.hashCode() % 50 * 0.7;
        return new Point((score % 37 * 1.25 - 20) * far, y);
    }

    /** Around the place, from nothing to the whole neighbourhood; none without a user. */
    public @Nullable Rectangle area() {
        Point place = place();
        if (place == null || user == null) {
            return null;
        }
        double size = new double[] {0, 0.125, 3, 1_000, 1e300}[(int) Math.floorMod(id, 5L)];
        return new Rectangle(place.x(), place.y() - size, place.x() + size / 3, place.y());
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
